#include "scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "core/arguments.h"
#include "exec/exec.h"
#include "plan/plan.h"
#include "scalar_kernels.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

std::int32_t Slot(Argument argument) { return AddressSlot(argument, 0, 1); }

// Rows of `dim` floats of a (B, heads, axis, dim) tensor.
RowTensor PlainRows(Argument argument, std::int64_t axis, std::int64_t dim) {
  RowTensor rows;
  rows.slot = Slot(argument);
  rows.dtype = DataType::kFloat32;
  rows.row_stride = dim * kFloat;
  rows.head_stride = axis * dim * kFloat;
  rows.chunk = dim;
  rows.dim_stride = kFloat;
  return rows;
}

}  // namespace

bool Result::SameBits(const Result& other) const {
  const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  };
  return same(out, other.out) && same(lse, other.lse);
}

Scene::Scene(const SceneShape& given) : shape(given) {
  for (const auto& [rows, keys] : shape.lengths) {
    shape.query_axis = std::max(shape.query_axis, rows);
    key_axis = std::max(key_axis, keys);
  }
  std::mt19937_64 random(shape.seed);
  std::normal_distribution<float> normal;
  const auto fill = [&](std::vector<float>* tensor, std::int64_t count) {
    tensor->resize(static_cast<std::size_t>(count));
    for (float& element : *tensor) element = normal(random);
  };
  fill(&query, batch() * shape.heads * shape.query_axis * shape.head_dim);
  fill(&key, batch() * shape.kv_heads * key_axis * shape.head_dim);
  fill(&value, batch() * shape.kv_heads * key_axis * shape.value_dim);
  addresses.assign(kArgumentCount, nullptr);
  DescribeTensors();
  DescribeSequences();
}

void Scene::DescribeTensors() {
  problem.num_heads = shape.heads;
  problem.num_kv_heads = shape.kv_heads;
  problem.group = shape.heads / shape.kv_heads;
  problem.head_dim = shape.head_dim;
  problem.value_dim = shape.value_dim;
  problem.scale = 0.5f;
  problem.query = PlainRows(Argument::kQuery, shape.query_axis, shape.head_dim);
  problem.out = PlainRows(Argument::kAttentionOut, shape.query_axis, shape.value_dim);
  problem.lse = PlainRows(Argument::kSoftmaxLse, shape.query_axis, 1);
  KvTensors tensors;
  tensors.key = PlainRows(Argument::kKey, key_axis, shape.head_dim);
  tensors.value = PlainRows(Argument::kValue, key_axis, shape.value_dim);
  problem.storage = {tensors};
  problem.used_slots = {Slot(Argument::kQuery), Slot(Argument::kKey), Slot(Argument::kValue),
                        Slot(Argument::kAttentionOut), Slot(Argument::kSoftmaxLse)};
}

void Scene::DescribeSequences() {
  const KvTensors& tensors = problem.storage.front();
  for (std::int64_t b = 0; b < batch(); ++b) {
    Sequence sequence;
    std::tie(sequence.query_count, sequence.key_count) = shape.lengths[static_cast<std::size_t>(b)];
    sequence.query_axis = shape.query_axis;
    sequence.key_axis = key_axis;
    sequence.query_offset = b * shape.heads * problem.query.head_stride;
    sequence.out_offset = b * shape.heads * problem.out.head_stride;
    sequence.lse_offset = b * shape.heads * problem.lse.head_stride;
    sequence.band_low = -kUnbounded;
    sequence.band_high = kUnbounded;
    if (sequence.key_count > 0) {
      KvSegment& segment = sequence.segments[sequence.segment_count++];
      segment.end = sequence.key_count;
      segment.key_offset = b * shape.kv_heads * tensors.key.head_stride;
      segment.value_offset = b * shape.kv_heads * tensors.value.head_stride;
    }
    problem.sequences.push_back(sequence);
  }
}

void Scene::Give(int slot, const void* contents, std::size_t bytes) {
  memory_.emplace_back(bytes / sizeof(std::uint64_t) + 1);
  if (bytes > 0) std::memcpy(memory_.back().data(), contents, bytes);
  addresses[static_cast<std::size_t>(slot)] = memory_.back().data();
}

std::vector<std::int64_t> Scene::Shuffled(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(shape.seed + 1));
  return order;
}

void Scene::UsePages(std::int64_t block_size) {
  const std::int64_t width = (key_axis + block_size - 1) / block_size;
  const std::int64_t blocks = batch() * width + 1;
  const std::vector<std::int64_t> order = Shuffled(blocks);
  std::vector<std::int32_t> table(static_cast<std::size_t>(batch() * width), -7);
  // (blocks, Nk, block_size, dim), NaN where no token lies.
  const auto cache = [&](const std::vector<float>& plain, std::int64_t dim) {
    std::vector<float> paged(static_cast<std::size_t>(blocks * shape.kv_heads * block_size * dim), NAN);
    for (std::int64_t b = 0; b < batch(); ++b) {
      for (std::int64_t j = 0; j < shape.lengths[static_cast<std::size_t>(b)].second; ++j) {
        const std::int64_t block = order[static_cast<std::size_t>(b * width + j / block_size)];
        table[static_cast<std::size_t>(b * width + j / block_size)] = static_cast<std::int32_t>(block);
        for (std::int64_t n = 0; n < shape.kv_heads; ++n) {
          const auto* from =
              &plain[static_cast<std::size_t>(((b * shape.kv_heads + n) * key_axis + j) * dim)];
          const auto to = ((block * shape.kv_heads + n) * block_size + j % block_size) * dim;
          std::copy_n(from, dim, &paged[static_cast<std::size_t>(to)]);
        }
      }
    }
    return paged;
  };
  Give(Argument::kKey, cache(key, shape.head_dim));
  Give(Argument::kValue, cache(value, shape.value_dim));
  Give(Argument::kBlockTable, table);
  KvTensors& tensors = problem.storage.front();
  tensors.paged = true;
  for (RowTensor* rows : {&tensors.key, &tensors.value}) {
    rows->head_stride = block_size * rows->row_stride;
    rows->block_stride = shape.kv_heads * rows->head_stride;
  }
  for (Sequence& sequence : problem.sequences) {
    sequence.segments[0].key_offset = sequence.segments[0].value_offset = 0;
  }
  problem.block_size = block_size;
  problem.block_count = blocks;
  problem.block_table_slot = Slot(Argument::kBlockTable);
  problem.table_row_stride = width * 4;
  problem.table_block_stride = 4;
  problem.used_slots.push_back(problem.block_table_slot);
}

void Scene::UsePrefix(std::int64_t length) {
  const auto move = [&](Argument argument, std::vector<float>* plain, std::int64_t dim) {
    const std::size_t head = static_cast<std::size_t>(key_axis * dim);
    std::vector<float> prefix;
    for (std::int64_t n = 0; n < batch() * shape.kv_heads; ++n) {
      auto rows = plain->begin() + n * static_cast<std::int64_t>(head);
      if (n < shape.kv_heads) prefix.insert(prefix.end(), rows, rows + length * dim);
      std::copy_n(prefix.begin() + n % shape.kv_heads * length * dim, length * dim, rows);
    }
    Give(argument, prefix);
  };
  move(Argument::kKeySharedPrefix, &key, shape.head_dim);
  move(Argument::kValueSharedPrefix, &value, shape.value_dim);
  KvTensors tensors;
  tensors.key = PlainRows(Argument::kKeySharedPrefix, length, shape.head_dim);
  tensors.value = PlainRows(Argument::kValueSharedPrefix, length, shape.value_dim);
  problem.storage.push_back(tensors);
  for (Sequence& sequence : problem.sequences) {
    KvSegment own = sequence.segments[0];
    own.begin = length;
    own.key_offset += length * problem.storage.front().key.row_stride;
    own.value_offset += length * problem.storage.front().value.row_stride;
    sequence.segments[0] = KvSegment{1, 0, length, 0, 0, 0};
    sequence.segments[1] = own;
    sequence.segment_count = 2;
  }
}

void Scene::UseChunks(std::int64_t chunk) {
  // (B, Nk, dim / chunk, KV_S, chunk)
  const auto spread = [&](Argument argument, const std::vector<float>& plain, std::int64_t dim,
                          RowTensor* rows) {
    std::vector<float> chunked(plain.size());
    for (std::size_t at = 0; at < plain.size(); ++at) {
      const auto index = static_cast<std::int64_t>(at);
      const std::int64_t d = index % dim, j = index / dim % key_axis, n = index / dim / key_axis;
      const std::int64_t to = ((n * (dim / chunk) + d / chunk) * key_axis + j) * chunk + d % chunk;
      chunked[static_cast<std::size_t>(to)] = plain[at];
    }
    rows->row_stride = chunk * kFloat;
    rows->chunk = chunk;
    rows->chunk_stride = key_axis * chunk * kFloat;
    Give(argument, chunked);
  };
  spread(Argument::kKey, key, shape.head_dim, &problem.storage.front().key);
  spread(Argument::kValue, value, shape.value_dim, &problem.storage.front().value);
}

void Scene::UseDimStride(std::int64_t stride) {
  const auto spread = [&](Argument argument, const std::vector<float>& plain, RowTensor* rows) {
    std::vector<float> spaced(plain.size() * static_cast<std::size_t>(stride), NAN);
    for (std::size_t at = 0; at < plain.size(); ++at)
      spaced[at * static_cast<std::size_t>(stride)] = plain[at];
    rows->row_stride *= stride;
    rows->head_stride *= stride;
    rows->dim_stride *= stride;
    Give(argument, spaced);
  };
  spread(Argument::kKey, key, &problem.storage.front().key);
  spread(Argument::kValue, value, &problem.storage.front().value);
  for (Sequence& sequence : problem.sequences) {
    sequence.segments[0].key_offset *= stride;
    sequence.segments[0].value_offset *= stride;
  }
}

void Scene::SetBand(std::int64_t low, std::int64_t high) {
  for (Sequence& sequence : problem.sequences) {
    sequence.band_low = low;
    sequence.band_high = high;
  }
}

Result Scene::Run(int workers, Status* status, const std::optional<ParallelFor>& parallel_for) {
  return Run(MakePlan(problem, ScalarKernels(), workers, parallel_for), status);
}

Result Scene::Run(const Plan& plan, Status* status) {
  const auto give_missing = [this](Argument argument, const std::vector<float>& contents) {
    if (addresses[static_cast<std::size_t>(Slot(argument))] == nullptr) Give(argument, contents);
  };
  give_missing(Argument::kQuery, query);
  give_missing(Argument::kKey, key);
  give_missing(Argument::kValue, value);
  Result result;
  const std::int64_t rows = batch() * shape.heads * shape.query_axis;
  result.out.assign(static_cast<std::size_t>(rows * shape.value_dim), NAN);
  result.lse.assign(static_cast<std::size_t>(rows), NAN);
  addresses[static_cast<std::size_t>(Slot(Argument::kAttentionOut))] = result.out.data();
  addresses[static_cast<std::size_t>(Slot(Argument::kSoftmaxLse))] = result.lse.data();
  // Misaligned on purpose, and of exactly the size asked for.
  std::vector<char> workspace(static_cast<std::size_t>(plan.workspace.total) + 1);
  const Status got =
      RunPlan(plan, addresses.data(), workspace.data() + 1, static_cast<std::uint64_t>(plan.workspace.total));
  if (status != nullptr) *status = got;
  EXPECT_TRUE(status != nullptr || got.ok()) << got.message;
  return result;
}

Result Scene::Expected() const {
  Result result;
  std::vector<double> scores(static_cast<std::size_t>(key_axis));
  for (std::int64_t b = 0; b < batch(); ++b) {
    const Sequence& sequence = problem.sequences[static_cast<std::size_t>(b)];
    for (std::int64_t n = 0; n < shape.heads; ++n) {
      const std::int64_t kv = b * shape.kv_heads + n / problem.group;
      for (std::int64_t i = 0; i < shape.query_axis; ++i) {
        const float* q =
            &query[static_cast<std::size_t>(((b * shape.heads + n) * shape.query_axis + i) * shape.head_dim)];
        double largest = -INFINITY, sum = 0;
        const std::int64_t begin = std::max<std::int64_t>(0, i + sequence.band_low);
        const std::int64_t end =
            i < sequence.query_count ? std::min(sequence.key_count, i + sequence.band_high + 1) : begin;
        for (std::int64_t j = begin; j < end; ++j) {
          const float* k = &key[static_cast<std::size_t>((kv * key_axis + j) * shape.head_dim)];
          double& score = scores[static_cast<std::size_t>(j)] =
              problem.scale * std::inner_product(q, q + shape.head_dim, k, 0.0);
          largest = std::max(largest, score);
        }
        std::vector<double> out(static_cast<std::size_t>(shape.value_dim));
        for (std::int64_t j = begin; j < end; ++j) {
          const double p = std::exp(scores[static_cast<std::size_t>(j)] - largest);
          sum += p;
          for (std::int64_t d = 0; d < shape.value_dim; ++d) {
            out[static_cast<std::size_t>(d)] +=
                p * value[static_cast<std::size_t>((kv * key_axis + j) * shape.value_dim + d)];
          }
        }
        for (const double x : out) result.out.push_back(sum == 0 ? 0 : static_cast<float>(x / sum));
        result.lse.push_back(sum == 0 ? INFINITY : static_cast<float>(largest + std::log(sum)));
      }
    }
  }
  return result;
}

std::string Difference(const Result& got, const Result& expected, double tolerance) {
  const auto compare = [tolerance](const char* name, const std::vector<float>& a,
                                   const std::vector<float>& b) {
    if (a.size() != b.size()) return std::string(name) + " has another size";
    for (std::size_t at = 0; at < a.size(); ++at) {
      if (a[at] == b[at] || std::abs(double{a[at]} - b[at]) <= tolerance) continue;
      return std::string(name) + "[" + std::to_string(at) + "] is " + std::to_string(a[at]) + ", expected " +
             std::to_string(b[at]);
    }
    return std::string();
  };
  const std::string out = compare("out", got.out, expected.out);
  return out.empty() ? compare("lse", got.lse, expected.lse) : out;
}

}  // namespace fia::testing
