// The buffers of one case and the planned call over them.
#ifndef FIA_BENCH_WORKLOAD_H_
#define FIA_BENCH_WORKLOAD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cases.h"
#include "fia/attention.h"

namespace fia::bench {

// Owns several copies of the KV cache, used in turn so that a decode call finds none of it in the CPU's
// caches.
class Workload {
 public:
  explicit Workload(const Case& one);

  const AttentionParams& params() const { return params_; }
  // Phase one; the message if it fails, else "".
  std::string Plan();
  // Phase two on the next copy of the cache; the message if it fails, else "".
  std::string Run();
  // Both phases, or one of them: what the case times.
  std::string RunTimed();
  // Points the call back at the first copy, the one `params` names, and runs it.
  std::string RunFirst();
  // Judges the outputs of RunFirst on at least 64 rows of all sequences and heads, first and last among them;
  // "" if right.
  std::string Verify() const;
  // Seconds of one call of three-step Eigen attention over the same data; 0 where the yardstick has no such
  // case (paged, quantised, ragged, rope, bias).
  double MeasureEigen() const;
  std::uint64_t workspace_bytes() const { return workspace_bytes_; }

 private:
  using Buffer = std::unique_ptr<std::uint8_t[]>;

  void* Allocate(std::int64_t bytes);
  void* AllocateRandom(std::int64_t elements, DataType dtype);
  void MakeQueryAndOutput();
  void MakeCaches();
  void MakePagedTable(std::int64_t blocks, std::int64_t width);
  void MakeLengthsAndMask();
  void MakeExtras();
  void MakeScales();

  Case case_;
  std::vector<Buffer> buffers_;
  AttentionParams params_;
  std::vector<void*> keys_, values_, ropes_;  // one for each copy of the cache
  std::vector<std::uint8_t> workspace_;
  std::uint64_t workspace_bytes_ = 0;
  Executor executor_;
  std::size_t next_ = 0;
};

}  // namespace fia::bench

#endif  // FIA_BENCH_WORKLOAD_H_
