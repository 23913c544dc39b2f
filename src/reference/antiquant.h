// Scales and offsets of an int8 or int4 cache: k = (stored + offset) * scale, v likewise.
#ifndef FIA_REFERENCE_ANTIQUANT_H_
#define FIA_REFERENCE_ANTIQUANT_H_

#include <cstdint>
#include <vector>

#include "fia/attention.h"
#include "reference/shape.h"

namespace fia::reference {

// Of one side of the cache.
class Antiquant {
 public:
  enum class Side { kKey = 0, kValue = 1 };

  // `params` and `shape` have to outlive this object. Not active when the call has no antiquant scales.
  Antiquant(const AttentionParams& params, const CallShape& shape, Side side);

  bool active() const noexcept { return scale_ != nullptr; }

  // Chooses the head whose rows follow.
  void SetHead(std::int64_t kv_head);

  // From stored elements of key j (prefix first) to real ones, in place; magnitudes[d] = |scale| (|stored| +
  // |offset|).
  void Apply(std::int64_t sequence, std::int64_t j, double* row, double* magnitudes) const noexcept;

 private:
  double FactorAt(const TensorView& view, std::int64_t sequence, std::int64_t j,
                  std::int64_t d) const noexcept;

  const AttentionParams& params_;
  const CallShape& shape_;
  const TensorView* scale_ = nullptr;
  const TensorView* offset_ = nullptr;  // null: zero
  int member_ = -1;                     // index on a combined tensor's leading axis; -1: separate tensors
  std::int64_t mode_ = 0;
  std::int64_t dim_ = 0;
  std::int64_t kv_head_ = 0;
  std::vector<double> channel_scale_;  // [dim] of kv_head_, mode 0
  std::vector<double> channel_offset_;
};

}  // namespace fia::reference

#endif  // FIA_REFERENCE_ANTIQUANT_H_
