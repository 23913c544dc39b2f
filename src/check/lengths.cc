// The rule lengths: valid lengths of the sequences, and of the shared prefix.
#include <algorithm>

#include "check/rules.h"

namespace fia::check {
namespace {

using Lengths = std::vector<std::int64_t>;

// What entries are held against, for the message: "query's S axis".
struct Limit {
  const char* name;
  std::int64_t size;  // -1: not known, another rule refuses the call
};

bool EntryFits(Context& context, Argument argument, std::int64_t index, std::int64_t entry,
               const Limit& limit) {
  if (entry < 0) {
    return Refuse(context, argument, Text("entry ", index, " is ", entry, ", it must be >= 0"));
  }
  if (limit.size < 0 || entry <= limit.size) return true;
  return Refuse(context, argument,
                Text("entry ", index, " is ", entry, ", it must be at most ", limit.name, " = ", limit.size));
}

// Padded layouts: none, one for all, or at least one for each sequence; entries after the first B are not
// looked at. `limit(b)` is what the length of sequence b is held against.
template <typename LimitOf>
bool ReadEach(Context& context, Argument argument, const Lengths& given, const LimitOf& limit, Lengths* out) {
  const std::int64_t batch = context.call.batch;
  const auto count = static_cast<std::int64_t>(given.size());
  if (count > 1 && count < batch) {
    return Refuse(context, argument,
                  Text("got ", count, " entries for B = ", batch, ", it must have none, 1 or at least B"));
  }
  out->resize(static_cast<std::size_t>(batch));
  for (std::int64_t index = 0; index < batch; ++index) {
    const Limit most = limit(index);
    const std::int64_t at = count == 1 ? 0 : index;
    const std::int64_t length =
        count == 0 ? std::max<std::int64_t>(most.size, 0) : given[static_cast<std::size_t>(at)];
    if (count > 0 && !EntryFits(context, argument, at, length, most)) return false;
    (*out)[static_cast<std::size_t>(index)] = length;
  }
  return true;
}

// Packed layouts: where each sequence ends on the T axis.
bool ReadEnds(Context& context, Argument argument, const Lengths& given, const Limit& total, Lengths* starts,
              Lengths* lengths) {
  starts->reserve(given.size());
  lengths->reserve(given.size());
  std::int64_t start = 0;
  for (std::size_t index = 0; index < given.size(); ++index) {
    const std::int64_t end = given[index];
    const auto entry = static_cast<std::int64_t>(index);
    if (!EntryFits(context, argument, entry, end, total)) return false;
    if (end < start) {
      return Refuse(context, argument,
                    Text("entry ", entry, " is ", end, " after ", start,
                         ", entries are the ends of the sequences and must not decrease"));
    }
    starts->push_back(start);
    lengths->push_back(end - start);
    start = end;
  }
  if (start == total.size) return true;
  return Refuse(context, argument,
                Text("the last entry is ", start, ", it must equal ", total.name, " = ", total.size));
}

std::int64_t Longest(const Lengths& lengths) noexcept {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

bool ReadQueryLengths(Context& context, const Lengths& given) {
  Call& call = context.call;
  const auto argument = Argument::kActualSeqLengths;
  if (call.layout->packed) {
    if (given.empty()) {
      return Refuse(context, argument, Text("got none, inputLayout ", call.layout->name, " requires it"));
    }
    const Limit total{"query's T axis", context.params.query.dims[AxesOf(call.layout->input).token]};
    if (!ReadEnds(context, argument, given, total, &call.query_starts, &call.query_lengths)) return false;
    call.query_axis = Longest(call.query_lengths);
    return true;
  }
  call.query_starts.assign(static_cast<std::size_t>(call.batch), 0);
  const Limit axis{"query's S axis", call.query_axis};
  const Lengths none;
  return ReadEach(
      context, argument, call.decode ? none : given, [&axis](std::int64_t) { return axis; },
      &call.query_lengths);
}

// The S axis of sequence b's keys. Paged caches: `paged` holds the lengths against the block table; lists in
// packed layouts are refused by `tensor_list`.
Limit KeyLimit(const Context& context, std::int64_t index) noexcept {
  const Call& call = context.call;
  if (context.paged || call.layout->packed) return {"", -1};
  if (!call.tensor_list) return {"key's S axis", call.kv_axis};
  const std::vector<TensorView>& key = context.params.key;
  if (index >= static_cast<std::int64_t>(key.size())) return {"", -1};
  const TensorView& member = key[static_cast<std::size_t>(index)];
  const FormAxes axes = AxesOf(call.layout->input);
  return {"its key's S axis", member.rank == axes.rank ? member.dims[axes.token] : -1};
}

bool ReadKeyLengths(Context& context, const Lengths& given) {
  Call& call = context.call;
  const auto argument = Argument::kActualSeqLengthsKv;
  const bool packed = call.layout->packed && !context.paged;
  if (given.empty() && (packed || context.paged)) {
    return Refuse(context, argument,
                  Text("got none, ", packed ? "inputLayout " : "blockTable", packed ? call.layout->name : "",
                       " requires it"));
  }
  if (!packed || call.tensor_list) {
    call.kv_starts.assign(static_cast<std::size_t>(call.batch), 0);
    return ReadEach(
        context, argument, given, [&context](std::int64_t index) { return KeyLimit(context, index); },
        &call.kv_lengths);
  }
  if (static_cast<std::int64_t>(given.size()) != call.batch) {
    return Refuse(context, argument,
                  Text("got ", static_cast<std::int64_t>(given.size()),
                       " entries, it must have as many as actualSeqLengths, ", call.batch));
  }
  const Limit total{"key's T axis", context.params.key.front().dims[AxesOf(call.layout->input).token]};
  if (!ReadEnds(context, argument, given, total, &call.kv_starts, &call.kv_lengths)) return false;
  call.kv_axis = Longest(call.kv_lengths);
  return true;
}

bool ReadPrefixLength(Context& context) {
  Call& call = context.call;
  const TensorView* key = context.Used(Argument::kKeySharedPrefix);
  const FormAxes axes = AxesOf(call.layout->input);
  if (key == nullptr || key->rank != axes.rank) return true;
  const std::int64_t axis = key->dims[axes.token];
  const Lengths& given = context.params.prefix->length;
  if (given.size() > 1) {
    return Refuse(context, Argument::kActualSharedPrefixLen,
                  Text("got ", static_cast<std::int64_t>(given.size()), " entries, it must have none or 1"));
  }
  call.prefix_length = given.empty() ? axis : given.front();
  return given.empty() || EntryFits(context, Argument::kActualSharedPrefixLen, 0, call.prefix_length,
                                    {"keySharedPrefix's S axis", axis});
}

}  // namespace

bool CheckLengths(Context& context) {
  const std::optional<SequenceLengths>& given = context.params.lengths;
  const Lengths none;
  if (!ReadQueryLengths(context, given ? given->query : none)) return false;
  if (!ReadKeyLengths(context, given ? given->key_value : none)) return false;
  context.longest_key = Longest(context.call.kv_lengths);
  return ReadPrefixLength(context);
}

}  // namespace fia::check
