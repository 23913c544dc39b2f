// The instruction sets of this build and the one in use.
#ifndef FIA_CPU_ISA_H_
#define FIA_CPU_ISA_H_

#include "core/kernel_table.h"

namespace fia {

// The kernels in use, chosen once per process; null when FIA_ISA names a set that this CPU or build does not
// have.
const KernelTable* ActiveKernels() noexcept;

// The kernels of the named set; null when this CPU or build does not have it.
const KernelTable* FindKernels(const char* isa) noexcept;

// What FIA_ISA asks for when ActiveKernels() is null, for the message; else "".
const char* RefusedIsa() noexcept;

}  // namespace fia

#endif  // FIA_CPU_ISA_H_
