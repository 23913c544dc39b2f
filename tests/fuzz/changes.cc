#include "fuzz/changes.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/arguments.h"
#include "fuzz/places.h"

namespace fia::testing {
namespace {

constexpr const char* kLayouts[] = {"BSH",       "BSND",     "BNSD",      "BSH_BNSD",  "BSND_BNSD",
                                    "BNSD_BSND", "BSH_NBSD", "BSND_NBSD", "BNSD_NBSD", "TND",
                                    "NTD",       "NTD_TND",  "TND_NTD",   "",          "NSD",
                                    "BNSD_TND",  "tnd",      "SH",        "BNSD "};

constexpr DataType kTypes[] = {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32, DataType::kInt8,
                               DataType::kInt4,    DataType::kInt32,    DataType::kUint8,   DataType::kBool,
                               DataType::kInt64,   DataType::kUint64,   DataType::kFloat64, DataType::kInt16};

TensorView* AnyView(Cursor* cursor, AttentionParams* params) {
  static TensorView none;
  const std::vector<TensorView*> views = PresentViews(params);
  if (views.empty()) return &(none = {});
  return views[static_cast<std::size_t>(cursor->Below(static_cast<std::int64_t>(views.size())))];
}

// Any place, one that the call does not use yet included.
TensorView* AnyPlace(Cursor* cursor, AttentionParams* params) {
  const auto argument = static_cast<Argument>(cursor->Below(kArgumentCount));
  std::vector<TensorView>* list = argument == Argument::kKey     ? &params->key
                                  : argument == Argument::kValue ? &params->value
                                                                 : nullptr;
  TensorView* place = list == nullptr ? PlaceOf(argument, params) : nullptr;
  if (list != nullptr && !list->empty()) place = &list->back();
  return place == nullptr ? AnyView(cursor, params) : place;
}

int AnyAxis(Cursor* cursor, const TensorView& view) {
  return static_cast<int>(cursor->Below(std::clamp(view.rank, 1, kMaxRank)));
}

std::int32_t AnyRank(Cursor* cursor) {
  const auto rank = static_cast<std::int32_t>(cursor->Below(12)) - 1;
  return rank < 10 ? rank : static_cast<std::int32_t>(cursor->Number());
}

void ChangeDim(Cursor* cursor, TensorView* view) {
  std::int64_t& dim = view->dims[AnyAxis(cursor, *view)];
  dim = cursor->Chance(100) ? dim + cursor->Below(5) - 2 : cursor->Number();
  if (!cursor->Chance(64)) view->SetRowMajorStrides();
}

void ChangeStride(Cursor* cursor, TensorView* view) {
  const int axis = AnyAxis(cursor, *view);
  const std::int64_t choice = cursor->Below(4);
  if (choice == 0) std::fill(view->strides, view->strides + kMaxRank, 0);
  view->strides[axis] = choice == 1   ? cursor->Number()
                        : choice == 2 ? view->strides[axis] + cursor->Below(9)
                                      : 0;
}

// Two axes change places, in memory too or not.
void SwapAxes(Cursor* cursor, TensorView* view) {
  const int a = AnyAxis(cursor, *view), b = AnyAxis(cursor, *view);
  std::swap(view->dims[a], view->dims[b]);
  if (cursor->Chance(128)) {
    std::swap(view->strides[a], view->strides[b]);
  } else {
    view->SetRowMajorStrides();
  }
}

// Every axis of that length, in all tensors, gets another length: a batch, a head count, a dim.
void ChangeLengthEverywhere(Cursor* cursor, AttentionParams* params) {
  const TensorView& view = *AnyView(cursor, params);
  const std::int64_t from = view.dims[AnyAxis(cursor, view)];
  const std::int64_t to = cursor->Number();
  const bool broadcast = cursor->Chance(128);
  for (TensorView* other : PresentViews(params)) {
    const bool output =
        other == &params->attention_out || (params->softmax_lse && other == &*params->softmax_lse);
    for (int axis = 0; axis < std::min(other->rank, kMaxRank); ++axis) {
      if (other->dims[axis] != from) continue;
      other->dims[axis] = to;
      if (broadcast && !output) {
        other->strides[axis] = 0;
      } else {
        other->SetRowMajorStrides();
      }
    }
  }
}

void ChangeTensor(Cursor* cursor, AttentionParams* params) {
  TensorView* view = AnyView(cursor, params);
  switch (cursor->Below(8)) {
    case 0:
    case 1:
      return ChangeDim(cursor, view);
    case 2:
      return ChangeStride(cursor, view);
    case 3:
      view->dtype = cursor->Chance(32) ? static_cast<DataType>(cursor->Number())
                                       : kTypes[cursor->Below(std::size(kTypes))];
      return;
    case 4:
      view->format = cursor->Chance(32)    ? static_cast<Format>(cursor->Number())
                     : cursor->Chance(128) ? Format::kFractalNz
                                           : static_cast<Format>(cursor->Below(50) - 1);
      return;
    case 5:
      view->rank = AnyRank(cursor);
      if (cursor->Chance(128)) view->SetRowMajorStrides();
      return;
    case 6:
      return SwapAxes(cursor, view);
    default:
      return ChangeLengthEverywhere(cursor, params);
  }
}

// Tensors come, go and change places.
void ChangePresence(Cursor* cursor, AttentionParams* params) {
  switch (cursor->Below(4)) {
    case 0:
      *AnyView(cursor, params) = {};
      return;
    case 1: {
      const TensorView view = *AnyView(cursor, params);
      *AnyPlace(cursor, params) = view;
      return;
    }
    case 2:
      std::swap(*AnyView(cursor, params), *AnyView(cursor, params));
      return;
    default: {
      TensorView* place = AnyPlace(cursor, params);
      place->dtype = kTypes[cursor->Below(std::size(kTypes))];
      place->rank = static_cast<std::int32_t>(cursor->Below(5));
      for (int axis = 0; axis < place->rank; ++axis) place->dims[axis] = cursor->Below(8);
      place->SetRowMajorStrides();
    }
  }
}

void ChangeList(Cursor* cursor, AttentionParams* params) {
  std::vector<TensorView>& list = cursor->Chance(128) ? params->key : params->value;
  switch (cursor->Below(5)) {
    case 0:
      if (!list.empty()) list.pop_back();
      return;
    case 1:
      list.push_back(cursor->Chance(200) ? *AnyView(cursor, params) : TensorView());
      return;
    case 2:
      if (!list.empty()) list.resize(static_cast<std::size_t>(1 + cursor->Below(700)), list.back());
      return;
    case 3:
      list.clear();
      return;
    default:
      params->key = params->value;
  }
}

void ChangeLengths(Cursor* cursor, AttentionParams* params) {
  const std::int64_t which = cursor->Below(5);
  std::vector<std::int64_t>& lengths = which < 2   ? LengthsOf(params).query
                                       : which < 4 ? LengthsOf(params).key_value
                                                   : PrefixOf(params).length;
  const std::int64_t count = static_cast<std::int64_t>(lengths.size());
  switch (cursor->Below(5)) {
    case 0:
      lengths.resize(static_cast<std::size_t>(cursor->Below(9)), count > 0 ? lengths.back() : 1);
      return;
    case 1:
      lengths.assign(static_cast<std::size_t>(cursor->Below(65536)), cursor->Number());
      return;
    case 2:
      if (count > 1) std::swap(lengths.front(), lengths.back());
      return;
    default:
      if (count > 0) lengths[static_cast<std::size_t>(cursor->Below(count))] = cursor->Number();
  }
}

void ChangeAttribute(Cursor* cursor, AttentionParams* params) {
  const std::int64_t which = cursor->Below(13);
  const std::int64_t number = cursor->Number();
  switch (which) {
    case 0:
      params->heads.num_heads = number;
      return;
    case 1:
      params->heads.num_kv_heads = number;
      return;
    case 2:
      params->scores.inner_precise = number;
      return;
    case 3:
      MaskOf(params).sparse_mode = number % 12;
      return;
    case 4:
      MaskOf(params).sparse_mode = number;
      return;
    case 5:
      MaskOf(params).pre_tokens = number;
      return;
    case 6:
      MaskOf(params).next_tokens = cursor->Chance(128) ? number : -(number % 300);
      return;
    case 7:
      if (params->paged) params->paged->block_size = number;
      return;
    case 8:
      AntiquantOf(params).key_mode = number % 8;
      return;
    case 9:
      AntiquantOf(params).value_mode = number % 8;
      return;
    case 10:
      AntiquantOf(params).key_mode = AntiquantOf(params).value_mode = AntiquantOf(params).mode = number;
      return;
    case 11:
      MlaOf(params).query_mode = number;
      return;
    default:
      params->scores.scale = std::bit_cast<double>(cursor->Raw());
  }
}

void ChangeLayout(Cursor* cursor, AttentionParams* params) {
  if (cursor->Chance(200)) {
    params->heads.layout = kLayouts[cursor->Below(std::size(kLayouts))];
    return;
  }
  std::string text(static_cast<std::size_t>(cursor->Below(80)), ' ');
  for (char& character : text) character = static_cast<char>(cursor->Byte());
  params->heads.layout = text;
}

void CallInReverse(void*, std::int64_t count, void (*task)(void*, std::int64_t), void* argument) {
  for (std::int64_t index = count; index-- > 0;) task(argument, index);
}

void ChangeExecution(Cursor* cursor, AttentionParams* params) {
  constexpr int kThreads[] = {0, 1, 2, 3, 5, 17, -1, std::numeric_limits<int>::min()};
  constexpr int kWidths[] = {
      1, 2, 3, 64, 0, -1, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
  switch (cursor->Below(3)) {
    case 0:
      params->execution.check = cursor->Chance(128) ? Check::kStrict : Check::kRelaxed;
      return;
    case 1:
      params->execution.num_threads = kThreads[cursor->Below(std::size(kThreads))];
      return;
    default:
      params->execution.num_threads = 0;
      params->execution.parallel_for = ParallelFor{cursor->Chance(32) ? nullptr : CallInReverse, nullptr,
                                                   kWidths[cursor->Below(std::size(kWidths))]};
  }
}

}  // namespace

void ChangeParams(Cursor* cursor, AttentionParams* params) {
  switch (cursor->Below(16)) {
    case 0:
    case 1:
      return ChangePresence(cursor, params);
    case 2:
      return ChangeList(cursor, params);
    case 3:
    case 4:
      return ChangeLengths(cursor, params);
    case 5:
    case 6:
    case 7:
      return ChangeAttribute(cursor, params);
    case 8:
      return ChangeLayout(cursor, params);
    case 9:
      return ChangeExecution(cursor, params);
    case 10:
      if (params->softmax_lse) {
        params->softmax_lse.reset();
      } else {
        params->softmax_lse = params->attention_out;
      }
      return;
    default:
      return ChangeTensor(cursor, params);
  }
}

}  // namespace fia::testing
