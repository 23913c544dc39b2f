#include "fuzz/fuzz_call.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "fuzz/base_call.h"
#include "fuzz/changes.h"
#include "fuzz/places.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kMostAdded = std::int64_t{12} << 20;  // bytes
constexpr double kMostProducts = 4e7;                        // query and output elements times keys

bool Same(const TensorView& a, const TensorView& b) {
  if (a.data != b.data || a.dtype != b.dtype || a.rank != b.rank || a.rank > kMaxRank) return false;
  return std::equal(a.dims, a.dims + a.rank, b.dims) && std::equal(a.strides, a.strides + a.rank, b.strides);
}

double Elements(const TensorView& view) {
  double elements = 1;
  for (int axis = 0; axis < std::min(view.rank, kMaxRank); ++axis)
    elements *= static_cast<double>(std::max<std::int64_t>(view.dims[axis], 0));
  return elements;
}

// Elements but for the last axis.
double RowCount(const TensorView& view) {
  if (view.rank < 1 || view.rank > kMaxRank) return 0;
  return Elements(view) / static_cast<double>(std::max<std::int64_t>(view.dims[view.rank - 1], 1));
}

// Integers small enough to be block ids and lengths; any bits else.
void FillBytes(DataType dtype, std::uint64_t seed, std::uint8_t* data, std::int64_t size) {
  const bool index = dtype == DataType::kInt32 || dtype == DataType::kInt64;
  for (std::int64_t byte = 0; byte < size; ++byte) {
    seed = seed * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
    const auto bits = static_cast<std::uint8_t>(seed >> 56);
    data[byte] = index ? (byte % (BitsOf(dtype) / 8) == 0 ? bits % 3 : std::uint8_t{0}) : bits;
  }
}

}  // namespace

FuzzCall::FuzzCall(Cursor* cursor, Guard guard)
    : guard_(guard), base_(std::make_unique<BuiltCall>(ChooseBase(cursor, guard))), params_(base_->params()) {
  constexpr int kChanges[] = {0, 1, 1, 1, 2, 2, 3, 5};
  for (int changes = kChanges[cursor->Below(std::size(kChanges))]; changes > 0; --changes)
    ChangeParams(cursor, &params_);
  GiveMemory();
  for (std::int64_t changes = cursor->Below(3); changes > 0; --changes) ChangeMemory(cursor);
  overlapping_ = HasSharedOutput();
}

void FuzzCall::GiveMemory() {
  AttentionParams original = base_->params();
  const std::vector<TensorView*> originals = PresentViews(&original);
  for (TensorView* view : PresentViews(&params_)) {
    const bool kept = std::any_of(originals.begin(), originals.end(),
                                  [view](const TensorView* other) { return Same(*view, *other); });
    if (!kept) GiveMemoryTo(view);
  }
}

Memory* FuzzCall::AddMemory(std::int64_t size) {
  return &added_.emplace_back(static_cast<std::size_t>(size), guard_, std::uint8_t{0});
}

void FuzzCall::GiveMemoryTo(TensorView* view) {
  std::int64_t bytes = SpanBytes(*view);
  if (added_bytes_ + bytes > kMostAdded) bytes = -1;  // a long list of large members
  added_bytes_ += std::max<std::int64_t>(bytes, 0);
  backed_ = backed_ && bytes >= 0;
  Memory* memory = AddMemory(std::max<std::int64_t>(bytes, 0));
  FillBytes(view->dtype, added_.size(), memory->data(), bytes);
  if (const Memory* old = HolderOf(view->data))
    std::copy_n(old->data(), std::min(old->size(), memory->size()), memory->data());
  view->data = memory->data();
}

void FuzzCall::ChangeMemory(Cursor* cursor) {
  const std::vector<TensorView*> views = PresentViews(&params_);
  if (views.empty() || !backed_) return;
  const auto any = [cursor, &views] {
    return views[static_cast<std::size_t>(cursor->Below(static_cast<std::int64_t>(views.size())))];
  };
  switch (cursor->Below(8)) {
    case 0:
      if (params_.paged && params_.paged->block_table.present())
        ChangeContents(cursor, params_.paged->block_table);
      return;
    case 1:
      if (params_.padding && params_.padding->query_size.present())
        ChangeContents(cursor, params_.padding->query_size);
      if (params_.padding && params_.padding->kv_size.present())
        ChangeContents(cursor, params_.padding->kv_size);
      return;
    case 2:
      return ChangeContents(cursor, *any());
    case 3: {
      TensorView* view = any();
      const TensorView* with = any();
      return ShareMemory(view, *with, cursor->Chance(128));
    }
    case 4:
      return ShareMemory(any(), params_.attention_out, cursor->Chance(128));
    case 5:
      return Misalign(any());
    case 6:
      any()->data = nullptr;
      return;
    default: {
      const TensorView& view = *any();
      const Memory* memory = HolderOf(view.data);
      if (memory != nullptr)
        FillBytes(DataType::kUint8, cursor->Raw(), memory->data(), static_cast<std::int64_t>(memory->size()));
    }
  }
}

// One element, or all bytes alike.
void FuzzCall::ChangeContents(Cursor* cursor, const TensorView& view) {
  const Memory* memory = HolderOf(view.data);
  if (memory == nullptr || memory->size() == 0) return;
  if (cursor->Chance(64)) {
    std::memset(memory->data(), cursor->Byte(), memory->size());
    return;
  }
  const std::size_t size =
      std::min<std::size_t>(std::max<std::int64_t>(BitsOf(view.dtype) / 8, 1), memory->size());
  const std::int64_t count = static_cast<std::int64_t>(memory->size() / size);
  const std::int64_t number = cursor->Number();
  std::uint8_t* element = memory->data() + static_cast<std::size_t>(cursor->Below(count) % count) * size;
  std::memcpy(element, &number, size);
}

void FuzzCall::ShareMemory(TensorView* view, const TensorView& with, bool at_end) {
  const Memory* memory = HolderOf(with.data);
  const std::int64_t bytes = SpanBytes(*view);
  if (memory == nullptr || bytes < 0 || view->data == with.data) return;
  const std::int64_t room = static_cast<std::int64_t>(memory->size()) - bytes;
  if (room < 0) return;
  const std::int64_t alignment = std::max<std::int64_t>(BitsOf(view->dtype) / 8, 1);
  view->data = memory->data() + (at_end ? room / alignment * alignment : 0);
}

void FuzzCall::Misalign(TensorView* view) {
  const std::int64_t bytes = SpanBytes(*view);
  const Memory* old = HolderOf(view->data);
  if (bytes < 1 || old == nullptr) return;
  const Memory* memory = AddMemory(bytes + 1);
  const bool odd = reinterpret_cast<std::uintptr_t>(memory->data()) % 2 != 0;
  auto* data = memory->data() + (odd ? 0 : 1);
  const auto* from = static_cast<const std::uint8_t*>(view->data);
  std::copy_n(from, std::min<std::int64_t>(bytes, old->data() + old->size() - from), data);
  view->data = data;
}

bool FuzzCall::IsCheap() const {
  double keys = 0;
  for (const TensorView& member : params_.key) keys = std::max(keys, RowCount(member));
  if (params_.paged) {
    const TensorView& table = params_.paged->block_table;
    const double width = table.rank == 2 ? static_cast<double>(table.dims[1]) : 0;
    keys = std::max(keys, width * static_cast<double>(params_.paged->block_size));
  }
  if (params_.prefix) keys += RowCount(params_.prefix->key);
  return (Elements(params_.query) + Elements(params_.attention_out)) * (keys + 1) <= kMostProducts;
}

}  // namespace fia::testing
