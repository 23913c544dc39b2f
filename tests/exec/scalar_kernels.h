// Kernels of plain loops, so that the loops around kernels can be tested without any instruction set's.
#ifndef FIA_TESTS_EXEC_SCALAR_KERNELS_H_
#define FIA_TESTS_EXEC_SCALAR_KERNELS_H_

#include "core/kernel_table.h"

namespace fia::testing {

const KernelTable& ScalarKernels();

}  // namespace fia::testing

#endif  // FIA_TESTS_EXEC_SCALAR_KERNELS_H_
