// The tensors of a call as a list: one table gives each argument's name and where AttentionParams holds it.
#ifndef FIA_CORE_ARGUMENTS_H_
#define FIA_CORE_ARGUMENTS_H_

#include <cstdint>

#include "fia/attention.h"

namespace fia {

constexpr int kArgumentCount = 31;

// The argument's name in the operator's interface ("pseShift"). Static storage.
const char* ArgumentName(Argument argument) noexcept;

// The view that `params` holds for a single-tensor argument (not key or value); null if the call does not
// give it.
const TensorView* FindTensor(const AttentionParams& params, Argument argument) noexcept;

// Slots number the addresses of an executor: slot a is argument a (member 0 of key and value); further
// members of key, then of value, follow from kArgumentCount on.
std::int32_t AddressSlot(Argument argument, std::int64_t member, std::int64_t key_members) noexcept;

}  // namespace fia

#endif  // FIA_CORE_ARGUMENTS_H_
