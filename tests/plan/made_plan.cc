#include "plan/made_plan.h"

#include <gtest/gtest.h>

#include <optional>

#include "core/items.h"

namespace fia::testing {

std::int64_t QueryBytes(Body /*body*/, const TileShape& shape) {
  return (shape.rows * (shape.head_dim + shape.rope_dim) * 4 + 63) / 64 * 64;
}
std::int64_t ScratchBytes(Body body, const TileShape& shape) {
  const std::int64_t keys = body != Body::kFewRows ? shape.keys : 0;
  const std::int64_t dims = shape.head_dim + shape.rope_dim + shape.value_dim;
  return (4 * (keys * dims + shape.rows * shape.keys) + 63) / 64 * 64;
}

const KernelTable kKernels = {"none", QueryBytes, ScratchBytes, nullptr, {}, nullptr, nullptr};

Problem MakeProblem(std::int64_t heads, std::int64_t kv_heads, std::int64_t dim, std::int64_t value_dim,
                    const std::vector<Lengths>& lengths, bool causal) {
  Problem problem;
  problem.num_heads = heads;
  problem.num_kv_heads = kv_heads;
  problem.group = heads / kv_heads;
  problem.head_dim = dim;
  problem.value_dim = value_dim;
  problem.storage.resize(1);
  problem.storage[0].key.dtype = DataType::kFloat16;
  for (const Lengths& length : lengths) {
    Sequence sequence;
    sequence.query_count = sequence.query_axis = length.rows;
    sequence.key_count = length.keys;
    sequence.band_low = -kUnbounded;
    sequence.band_high = causal ? length.keys - length.rows : kUnbounded;
    problem.sequences.push_back(sequence);
  }
  return problem;
}

Plan PlanOf(const Problem& problem, int workers) {
  return MakePlan(problem, kKernels, workers, std::nullopt);
}

void ExpectExactCover(const Plan& plan, const std::string& name) {
  const Problem& problem = plan.problem;
  std::vector<std::vector<int>> rows(problem.sequences.size());
  for (std::size_t b = 0; b < rows.size(); ++b) {
    rows[b].resize(static_cast<std::size_t>(problem.sequences[b].query_count * problem.num_heads));
  }
  std::vector<std::int64_t> next_key(static_cast<std::size_t>(plan.merge_count), -1);
  for (std::int64_t index = 0; index < plan.item_count; ++index) {
    const Item item = ItemAt(plan, index);
    const auto b = static_cast<std::size_t>(item.work->sequence);
    const Sequence& sequence = problem.sequences[b];
    ASSERT_EQ(item.first_query, item.first_row / problem.group);
    ASSERT_EQ(item.last_query, (item.first_row + item.rows - 1) / problem.group);
    if (item.split == 0) {
      for (std::int64_t row = item.first_row; row < item.first_row + item.rows; ++row) {
        ++rows[b][static_cast<std::size_t>(item.kv_head * sequence.query_count * problem.group + row)];
      }
    }
    if (item.work->splits == 1) continue;
    const KeyRange all = AttendedKeys(sequence, item.first_query, item.last_query);
    const KeyRange keys = AttendedKeys(plan, item, item.split);
    auto& next = next_key[static_cast<std::size_t>(item.merge)];
    if (next < 0) next = all.begin;
    if (!keys.empty()) {
      ASSERT_EQ(keys.begin, next) << name;
      next = keys.end;
    }
    if (item.split == item.work->splits - 1 && !all.empty()) {
      ASSERT_EQ(next, all.end) << name;
    }
  }
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const int expected = problem.sequences[b].key_count > 0 ? 1 : 0;
    for (const int count : rows[b]) ASSERT_EQ(count, expected) << name << ", sequence " << b;
  }
}

}  // namespace fia::testing
