#include "fuzz/base_call.h"

#include <algorithm>
#include <vector>

#include "support/call_geometry.h"
#include "support/random_call.h"

namespace fia::testing {
namespace {

constexpr std::uint64_t kSeed = 1;

struct Size {
  std::int64_t rows;      // of a sequence
  std::int64_t keys;      // of a sequence
  std::int64_t elements;  // of query, key and value together
};

// Small ones cost little, the largest cross the borders of tiles and key chunks.
constexpr Size kSizes[] = {{2, 3, 8'000}, {5, 20, 20'000}, {17, 70, 60'000}, {40, 300, 200'000}};

std::int64_t Longest(const std::vector<std::int64_t>& lengths) {
  return *std::max_element(lengths.begin(), lengths.end());
}

void CutLengths(std::int64_t most, std::vector<std::int64_t>* lengths) {
  for (std::int64_t& length : *lengths) length = std::min(length, most);
}

std::int64_t Elements(const CallSpec& spec) {
  std::int64_t tokens = 0;
  for (std::size_t b = 0; b < spec.kv_lengths.size(); ++b)
    tokens += spec.query_lengths[b] * spec.num_heads + spec.kv_lengths[b] * spec.num_kv_heads;
  return tokens * (spec.head_dim + spec.rope_dim + spec.value_dim);
}

}  // namespace

CallSpec ChooseBase(Cursor* cursor, Guard guard) {
  const bool quantised = cursor->Chance(110);
  const Size& size = kSizes[cursor->Below(std::size(kSizes))];
  const auto index = static_cast<std::uint64_t>(cursor->Below(65536));
  CallSpec spec = quantised ? RandomQuantisedCall(kSeed, index) : RandomCall(kSeed, index);
  CutLengths(size.rows, &spec.query_lengths);
  CutLengths(size.keys, &spec.kv_lengths);
  while (Elements(spec) > size.elements && Longest(spec.kv_lengths) > 2)
    CutLengths(Longest(spec.kv_lengths) / 2, &spec.kv_lengths);
  while (Elements(spec) > size.elements && Longest(spec.query_lengths) > 2)
    CutLengths(Longest(spec.query_lengths) / 2, &spec.query_lengths);
  spec.guard = guard;
  return spec;
}

}  // namespace fia::testing
