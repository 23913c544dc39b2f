#include "support/call_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "support/tensor.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kGap = 6;  // elements; even, so that int4 rows start on bytes

std::int64_t ElementOffset(const TensorView& view, const std::vector<std::int64_t>& index) {
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis) offset += index[axis] * view.strides[axis];
  return offset;
}

// The axes from the innermost in memory outwards.
std::vector<int> MemoryOrder(int rank, ViewForm form) {
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  if (form == ViewForm::kScattered || rank == 0) return order;
  if (form == ViewForm::kTransposed) {
    std::rotate(order.begin(), order.end() - 1, order.end());
    return order;
  }
  std::reverse(order.begin(), order.end());
  return order;
}

// Elements from the first to the last, both included.
std::int64_t Span(const TensorView& view) {
  std::int64_t span = 1;
  for (int axis = 0; axis < view.rank; ++axis) {
    if (view.dims[axis] == 0) return 0;
    span += (view.dims[axis] - 1) * view.strides[axis];
  }
  return span;
}

}  // namespace

Memory::Memory(std::size_t size, Guard guard, std::uint8_t fill) : size_(size) {
  if (guard == Guard::kNone) {
    data_ = new std::uint8_t[size];
  } else {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t body = (size + page - 1) / page * page;
    mapped_ = body + 2 * page;
    mapping_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) throw std::bad_alloc();
    std::uint8_t* first = static_cast<std::uint8_t*>(mapping_) + page;
    if (body != 0 && mprotect(first, body, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    data_ = guard == Guard::kAfter ? first + (body - size) : first;
  }
  std::memset(data_, fill, size);
}

Memory::Memory(Memory&& other) noexcept { *this = std::move(other); }

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

Memory::~Memory() {
  if (mapping_ != nullptr) {
    munmap(mapping_, mapped_);
  } else {
    delete[] data_;
  }
}

void Rows::Set(std::int64_t b, std::int64_t t, std::int64_t n, std::int64_t d, double value) const {
  StoreElement(data, dtype, Offset(b, t, n, d), value);
}

double Rows::Get(std::int64_t b, std::int64_t t, std::int64_t n, std::int64_t d) const {
  return LoadElement(data, dtype, Offset(b, t, n, d));
}

void OwnedTensor::Set(const std::vector<std::int64_t>& index, double value) {
  StoreElement(view.data, view.dtype, ElementOffset(view, index), value);
}

double OwnedTensor::Get(const std::vector<std::int64_t>& index) const {
  return LoadElement(view.data, view.dtype, ElementOffset(view, index));
}

OwnedTensor MakeTensor(const std::vector<std::int64_t>& dims, DataType dtype, ViewForm form, Guard guard,
                       std::uint8_t fill, int broadcast_axis) {
  OwnedTensor tensor;
  TensorView& view = tensor.view;
  view.dtype = dtype;
  view.rank = static_cast<std::int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), view.dims);
  std::int64_t stride = 1;
  for (const int axis : MemoryOrder(view.rank, form)) {
    if (form == ViewForm::kBroadcast && axis == broadcast_axis) continue;
    view.strides[axis] = stride;
    stride *= std::max<std::int64_t>(view.dims[axis], 1);
    if (form == ViewForm::kGaps) stride += kGap;
  }
  const std::int64_t bits = Span(view) * ElementBits(dtype);
  tensor.memory = Memory(static_cast<std::size_t>((bits + 7) / 8), guard, fill);
  view.data = tensor.memory.data();
  return tensor;
}

bool GapsHold(const OwnedTensor& tensor, std::uint8_t fill) {
  const TensorView& view = tensor.view;
  const std::size_t size = static_cast<std::size_t>(ElementBits(view.dtype) / 8);
  std::vector<bool> owned(tensor.memory.size(), false);
  std::vector<std::int64_t> index(static_cast<std::size_t>(view.rank), 0);
  bool more = tensor.memory.size() != 0;
  while (more) {
    const std::size_t first = static_cast<std::size_t>(ElementOffset(view, index)) * size;
    for (std::size_t byte = first; byte < first + size; ++byte) owned[byte] = true;
    int axis = view.rank - 1;
    while (axis >= 0 && ++index[static_cast<std::size_t>(axis)] == view.dims[axis])
      index[static_cast<std::size_t>(axis--)] = 0;
    more = axis >= 0;
  }
  for (std::size_t byte = 0; byte < owned.size(); ++byte) {
    if (!owned[byte] && tensor.memory.data()[byte] != fill) return false;
  }
  return true;
}

}  // namespace fia::testing
