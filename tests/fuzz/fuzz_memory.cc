// The bytes that a fuzzed call owns: their size, who holds them, what a run may change.
#include <algorithm>
#include <cstring>

#include "fuzz/fuzz_call.h"
#include "fuzz/places.h"
#include "support/tensor.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{6} << 20;  // of one view

bool IsKnown(DataType dtype) {
  switch (dtype) {
    case DataType::kInt4:
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kBool:
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kInt16:
    case DataType::kUint16:
    case DataType::kFloat32:
    case DataType::kInt32:
    case DataType::kUint32:
      return true;
    default:
      return false;
  }
}

// Marks the bytes of the view's elements in the memory that begins at `first`.
void MarkElements(const TensorView& view, const std::uint8_t* first, std::vector<bool>* marks) {
  if (std::any_of(view.dims, view.dims + view.rank, [](std::int64_t dim) { return dim == 0; })) return;
  const std::int64_t size = BitsOf(view.dtype) / 8;
  std::int64_t index[kMaxRank] = {};
  for (bool more = true; more;) {
    std::int64_t offset = static_cast<const std::uint8_t*>(view.data) - first;
    for (int axis = 0; axis < view.rank; ++axis) offset += index[axis] * view.strides[axis] * size;
    for (std::int64_t byte = 0; byte < size; ++byte) (*marks)[static_cast<std::size_t>(offset + byte)] = true;
    int axis = view.rank - 1;
    while (axis >= 0 && ++index[axis] == view.dims[axis]) index[axis--] = 0;
    more = axis >= 0;
  }
}

}  // namespace

std::int64_t BitsOf(DataType dtype) { return IsKnown(dtype) ? ElementBits(dtype) : 64; }

std::int64_t SpanBytes(const TensorView& view) {
  if (view.rank < 0 || view.rank > kMaxRank) return -1;
  std::int64_t last = 0;
  bool empty = false;
  for (int axis = 0; axis < view.rank; ++axis) {
    const std::int64_t dim = view.dims[axis], stride = view.strides[axis];
    if (dim < 0 || stride < 0) return -1;
    if (dim == 0) empty = true;
    if (dim <= 1 || stride == 0) continue;
    if (dim > kMostBytes * 2 || stride > kMostBytes * 2) return empty ? 0 : -1;
    last += (dim - 1) * stride;
  }
  if (empty) return 0;
  const std::int64_t bytes =
      last > kMostBytes * 2 ? kMostBytes + 1 : ((last + 1) * BitsOf(view.dtype) + 7) / 8;
  return bytes > kMostBytes ? -1 : bytes;
}

FuzzCall::Snapshot FuzzCall::Take() const {
  Snapshot bytes;
  for (const Memory* memory : AllMemory())
    bytes.emplace_back(memory->data(), memory->data() + memory->size());
  return bytes;
}

void FuzzCall::Restore(const Snapshot& bytes) {
  const std::vector<const Memory*> all = AllMemory();
  for (std::size_t index = 0; index < all.size(); ++index)
    std::copy(bytes[index].begin(), bytes[index].end(), all[index]->data());
}

const char* FuzzCall::Damage(const Snapshot& before, bool failed) const {
  const std::vector<const Memory*> all = AllMemory();
  for (std::size_t index = 0; index < all.size(); ++index) {
    const std::uint8_t* now = all[index]->data();
    if (std::equal(before[index].begin(), before[index].end(), now)) continue;
    if (failed) return "a run that failed wrote";
    std::vector<bool> written(before[index].size(), false);
    for (const TensorView& view : Outputs()) {
      if (HolderOf(view.data) == all[index]) MarkElements(view, now, &written);
    }
    for (std::size_t byte = 0; byte < written.size(); ++byte) {
      if (!written[byte] && now[byte] != before[index][byte]) return "bytes outside the outputs have changed";
    }
  }
  return nullptr;
}

std::vector<std::uint8_t> FuzzCall::OutputBytes() const {
  std::vector<std::uint8_t> bytes;
  for (const TensorView& view : Outputs()) {
    const Memory* memory = HolderOf(view.data);
    if (memory == nullptr) continue;
    std::vector<bool> element(memory->size(), false);
    MarkElements(view, memory->data(), &element);
    for (std::size_t byte = 0; byte < element.size(); ++byte) {
      if (element[byte]) bytes.push_back(memory->data()[byte]);
    }
  }
  return bytes;
}

std::vector<TensorView> FuzzCall::Outputs() const {
  std::vector<TensorView> outputs = {params_.attention_out};
  if (params_.softmax_lse && params_.softmax_lse->present()) outputs.push_back(*params_.softmax_lse);
  return outputs;
}

bool FuzzCall::HasSharedOutput() {
  for (const TensorView& output : Outputs()) {
    const Memory* memory = HolderOf(output.data);
    int holders = 0;
    for (const TensorView* view : PresentViews(&params_)) holders += HolderOf(view->data) == memory ? 1 : 0;
    if (memory != nullptr && holders > 1) return true;
  }
  return false;
}

const Memory* FuzzCall::HolderOf(const void* data) const {
  const auto* byte = static_cast<const std::uint8_t*>(data);
  const auto holds = [byte](const Memory& memory) {
    return byte == memory.data() || (byte > memory.data() && byte < memory.data() + memory.size());
  };
  if (data == nullptr) return nullptr;
  for (const Memory* memory : AllMemory()) {
    if (holds(*memory)) return memory;
  }
  return nullptr;
}

std::vector<const Memory*> FuzzCall::AllMemory() const {
  std::vector<const Memory*> all;
  for (const Memory& memory : added_) all.push_back(&memory);
  CallTensors* tensors = base_->tensors();
  for (const OwnedTensor& tensor : tensors->inputs) all.push_back(&tensor.memory);
  for (const OwnedTensor* tensor : {&tensors->out, &tensors->lse}) {
    if (tensor->present()) all.push_back(&tensor->memory);
  }
  return all;
}

}  // namespace fia::testing
