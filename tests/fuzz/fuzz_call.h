// One call in the making: a valid one, then changed, then given memory of exactly the bytes that its views
// span.
#ifndef FIA_TESTS_FUZZ_FUZZ_CALL_H_
#define FIA_TESTS_FUZZ_FUZZ_CALL_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "fia/attention.h"
#include "fuzz/cursor.h"
#include "support/call_builder.h"
#include "support/call_memory.h"

namespace fia::testing {

// Bits of an element, known type or not.
std::int64_t BitsOf(DataType dtype);

// Bytes from the first to the last element; -1 for a view that no memory of a test can hold.
std::int64_t SpanBytes(const TensorView& view);

class FuzzCall {
 public:
  // Decodes a call. Its memory stands as `guard` says.
  FuzzCall(Cursor* cursor, Guard guard);

  const AttentionParams& params() const { return params_; }
  Guard guard() const { return guard_; }

  // Every view has its memory and computing takes a moment: phase two may run.
  bool runnable() const { return backed_ && IsCheap(); }
  // An output shares memory with another argument: its values are undefined.
  bool overlapping() const { return overlapping_; }
  // Has the native interface use one thread.
  void UseOneThread() { params_.execution = {params_.execution.check, 1, {}}; }

  // The bytes of all memory.
  using Snapshot = std::vector<std::vector<std::uint8_t>>;
  Snapshot Take() const;
  void Restore(const Snapshot& bytes);
  // What a run has changed that it may not, null if nothing. A run that failed may change nothing.
  const char* Damage(const Snapshot& before, bool failed) const;
  // The elements of attentionOut and softmaxLse.
  std::vector<std::uint8_t> OutputBytes() const;

 private:
  void GiveMemory();
  void GiveMemoryTo(TensorView* view);
  void ChangeMemory(Cursor* cursor);
  void ChangeContents(Cursor* cursor, const TensorView& view);
  void ShareMemory(TensorView* view, const TensorView& with, bool at_end);
  void Misalign(TensorView* view);
  bool IsCheap() const;
  std::vector<TensorView> Outputs() const;
  bool HasSharedOutput();
  const Memory* HolderOf(const void* data) const;
  std::vector<const Memory*> AllMemory() const;
  Memory* AddMemory(std::int64_t size);

  Guard guard_;
  std::unique_ptr<BuiltCall> base_;
  AttentionParams params_;
  std::deque<Memory> added_;  // for views that the base call does not have
  std::int64_t added_bytes_ = 0;
  bool backed_ = true;
  bool overlapping_ = false;
};

}  // namespace fia::testing

#endif  // FIA_TESTS_FUZZ_FUZZ_CALL_H_
