// What the rules look at: the call's arguments, which of them it uses, and the facts found so far.
#ifndef FIA_CHECK_CONTEXT_H_
#define FIA_CHECK_CONTEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "check/message.h"
#include "check/shape.h"
#include "core/arguments.h"
#include "core/call.h"
#include "fia/attention.h"

namespace fia::check {

// Why an argument is looked at. Arguments that a call does not look at at all have no entry in a context.
enum class Use : std::int8_t { kNone, kTypeOnly, kUsed };

struct Context {
  const AttentionParams& params;
  Call& call;
  bool strict = true;
  const char* rule = "";  // being checked, and the code of a call that breaks it
  StatusCode code = StatusCode::kTilingError;
  Status status = {};  // after a refusal

  Use uses[kArgumentCount] = {};                   // by Argument; key and value: kUsed
  const TensorView* tensors[kArgumentCount] = {};  // by Argument, null: not given; key and value: member 0
  bool paged = false;                              // blockTable is given
  bool rope = false;                               // queryRope or keyRope is given
  bool prefix = false;                             // a prefix tensor is given, empty or not
  bool int8_output = false;
  std::int64_t longest_key = 0;  // largest kv length, known after the rule `lengths`

  // The argument's tensor if the call uses it, else null.
  const TensorView* Used(Argument argument) const noexcept {
    const auto index = static_cast<std::size_t>(argument);
    return uses[index] == Use::kUsed ? tensors[index] : nullptr;
  }
};

// Fills the facts that need no valid call: whatever does not make sense is left at -1 or null for the rules
// to refuse. `context.params` has passed the rule `null`.
void ReadFacts(Context& context) noexcept;

// Notes that the rule being checked refuses the call; returns false. `text` goes on from "parameter: ".
bool Refuse(Context& context, std::string_view parameter, std::string_view text);
bool Refuse(Context& context, Argument argument, std::string_view text);

// The layout is one of `names`, separated by spaces.
bool LayoutIn(const Context& context, std::string_view names) noexcept;

// The shape in which keys or values of `shape` are stored: int4 packed in int32 has eight elements in each
// element of the last axis.
Shape Stored(const Context& context, Shape shape) noexcept;

// Columns that masks, pseShift and per-token scales need: keys of the longest sequence, prefix included;
// paged: rounded up to a block.
std::int64_t KeyColumns(const Context& context) noexcept;

}  // namespace fia::check

#endif  // FIA_CHECK_CONTEXT_H_
