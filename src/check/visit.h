// Goes through the tensors of a call, list members one by one.
#ifndef FIA_CHECK_VISIT_H_
#define FIA_CHECK_VISIT_H_

#include <string>
#include <vector>

#include "check/context.h"

namespace fia::check {

struct Visited {
  Argument argument;
  Use use;
  const TensorView* view;
  std::int64_t member;   // of a list
  std::int64_t members;  // 1 unless it is a list

  // Which member of a list is meant, for the message: "member 3 of 4 "; empty for single tensors.
  std::string Member() const { return members == 1 ? "" : Text("member ", member, " of ", members, " "); }
};

// Calls keeps(visited) for all tensors that are looked at, in argument order, until one returns false.
template <typename Keeps>
bool VisitAll(const Context& context, const Keeps& keeps) {
  for (int index = 0; index < kArgumentCount; ++index) {
    const auto argument = static_cast<Argument>(index);
    const Use use = context.uses[index];
    if (use == Use::kNone) continue;
    if (argument != Argument::kKey && argument != Argument::kValue) {
      if (!keeps(Visited{argument, use, context.tensors[index], 0, 1})) return false;
      continue;
    }
    const std::vector<TensorView>& list =
        argument == Argument::kKey ? context.params.key : context.params.value;
    const auto members = static_cast<std::int64_t>(list.size());
    for (std::int64_t member = 0; member < members; ++member) {
      const TensorView* view = &list[static_cast<std::size_t>(member)];
      if (!keeps(Visited{argument, use, view, member, members})) return false;
    }
  }
  return true;
}

}  // namespace fia::check

#endif  // FIA_CHECK_VISIT_H_
