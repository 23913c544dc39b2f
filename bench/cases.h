// The named model shapes and the cases made of them: one table, read top to bottom.
#ifndef FIA_BENCH_CASES_H_
#define FIA_BENCH_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "fia/tensor.h"

namespace fia::bench {

// Heads of a model family as attention sees it.
struct Model {
  const char* name;
  std::int64_t heads;      // N
  std::int64_t kv_heads;   // Nk
  std::int64_t head_dim;   // D
  std::int64_t value_dim;  // Dv
  std::int64_t rope_dim;   // 0: none
};

enum class Storage { kContiguous, kPaged16, kPaged128, kFractalNz128 };
enum class Attends { kFull, kCausal, kBand1024 };
enum class Extra { kNone, kBias, kFullMask };
enum class KvScales { kNone, kChannel, kToken };
// What the clock holds: phase two alone, phase one alone, or a call from its arguments to its result.
enum class Timed { kExecute, kPlan, kWholeCall };

struct Case {
  Model model;
  DataType query_dtype = DataType::kFloat16;
  DataType kv_dtype = DataType::kFloat16;
  KvScales kv_scales = KvScales::kNone;
  std::int64_t batch = 1;
  std::int64_t query_length = 1;     // 1: decode, 2..4: MTP, more: prefill
  std::int64_t kv_length = 0;        // of the longest sequence
  std::int64_t short_kv_length = 0;  // > 0: ragged, all sequences but the first have this length
  Storage storage = Storage::kContiguous;
  Attends attends = Attends::kFull;
  Extra extra = Extra::kNone;
  std::int64_t inner_precise = 0;
  Timed timed = Timed::kExecute;
  int threads = 1;
  bool quick = false;  // runs without --full

  bool decode() const { return query_length <= 4; }
  // "decode/gqa-32x8-d128/fp16/b1/kv32768/t1", with storage, mask and extras where they are not the plain
  // ones; "phase-one/..." and "whole-call/..." where not phase two is timed.
  std::string Name() const;
  // Bytes of key and value (and rope) cache that one call reads once.
  std::int64_t KvBytes() const;
  // Attended (query, key) pairs of one head, all sequences together.
  double AttendedPairs() const;
  // Floating-point operations of both products over attended pairs, a multiply and an add each.
  double ScoreFlops() const;  // of q . k
  double ValueFlops() const;  // of p . v
  double Flops() const { return ScoreFlops() + ValueFlops(); }
};

// All cases; thread counts are 1, 2 and `all_threads` without repetition.
std::vector<Case> AllCases(int all_threads);

}  // namespace fia::bench

#endif  // FIA_BENCH_CASES_H_
