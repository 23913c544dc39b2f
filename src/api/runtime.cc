#include "fia/runtime.h"

#include "cpu/isa.h"

namespace fia {

const char* Version() noexcept { return FIA_VERSION; }

const char* ActiveIsa() noexcept {
  const KernelTable* kernels = ActiveKernels();
  return kernels != nullptr ? kernels->isa : "";
}

}  // namespace fia
