// The executor's addresses.
#include <string>

#include "api/failure.h"
#include "core/arguments.h"
#include "fia/attention.h"

namespace fia {

void Executor::TakeAddresses(const AttentionParams& params) {
  key_members_ = static_cast<std::int64_t>(params.key.size());
  value_members_ = static_cast<std::int64_t>(params.value.size());
  addresses_.assign(static_cast<std::size_t>(kArgumentCount + key_members_ + value_members_), nullptr);
  const auto take = [this](Argument argument, std::int64_t member, const TensorView& view) {
    given_ |= 1u << static_cast<unsigned>(argument);
    addresses_[static_cast<std::size_t>(AddressSlot(argument, member, key_members_))] = view.data;
  };
  std::int64_t member = 0;
  for (const TensorView& view : params.key) take(Argument::kKey, member++, view);
  member = 0;
  for (const TensorView& view : params.value) take(Argument::kValue, member++, view);
  for (int number = 0; number < kArgumentCount; ++number) {
    const auto argument = static_cast<Argument>(number);
    if (const TensorView* view = FindTensor(params, argument)) take(argument, 0, *view);
  }
}

bool Executor::Has(Argument argument, std::int64_t member) const noexcept {
  const auto number = static_cast<std::int32_t>(argument);
  if (plan_ == nullptr || number < 0 || number >= kArgumentCount || (given_ >> number & 1u) == 0)
    return false;
  if (argument == Argument::kKey) return member >= 0 && member < key_members_;
  if (argument == Argument::kValue) return member >= 0 && member < value_members_;
  return member == 0;
}

Status Executor::SetAddress(Argument argument, std::int64_t member, void* address) noexcept {
  if (Has(argument, member)) {
    addresses_[static_cast<std::size_t>(AddressSlot(argument, member, key_members_))] = address;
    return {};
  }
  try {
    const auto number = static_cast<std::int32_t>(argument);
    const bool known = number >= 0 && number < kArgumentCount;
    const std::string name = known ? ArgumentName(argument) : "argument " + std::to_string(number);
    return Failure(
        StatusCode::kRuntimeError, known ? ArgumentName(argument) : "executor", "executor",
        name + " member " + std::to_string(member) +
            (valid() ? " is not among the tensors of this call" : " set on an executor without a plan"));
  } catch (...) {
    return CaughtFailure(StatusCode::kRuntimeError);
  }
}

}  // namespace fia
