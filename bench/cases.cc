#include "cases.h"

#include <algorithm>
#include <set>
#include <utility>

namespace fia::bench {
namespace {

constexpr Model kGqa32x8{"gqa-32x8-d128", 32, 8, 128, 128, 0};
constexpr Model kGqa64x8{"gqa-64x8-d128", 64, 8, 128, 128, 0};
constexpr Model kMha32{"mha-32-d128", 32, 32, 128, 128, 0};
constexpr Model kMha16{"mha-16-d128", 16, 16, 128, 128, 0};
constexpr Model kMqa32{"mqa-32x1-d128", 32, 1, 128, 128, 0};
constexpr Model kGqa32x8D64{"gqa-32x8-d64", 32, 8, 64, 64, 0};
constexpr Model kMla128{"mla-128-d512+64", 128, 1, 512, 512, 64};
constexpr Model kSmall8{"mha-8-d128", 8, 8, 128, 128, 0};

constexpr DataType kF16 = DataType::kFloat16;
constexpr DataType kBf16 = DataType::kBfloat16;

const char* DtypeName(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat16:
      return "fp16";
    case DataType::kBfloat16:
      return "bf16";
    case DataType::kInt8:
      return "int8";
    case DataType::kInt4:
      return "int4";
    default:
      return "fp32";
  }
}

std::int64_t BitsOf(DataType dtype) {
  switch (dtype) {
    case DataType::kInt4:
      return 4;
    case DataType::kInt8:
      return 8;
    case DataType::kFloat32:
      return 32;
    default:
      return 16;
  }
}

// Every combination of the lists around a case, each marked quick or not.
class CaseList {
 public:
  explicit CaseList(int all_threads) {
    for (int threads : {1, 2, all_threads}) threads_.insert(std::max(1, std::min(threads, all_threads)));
  }
  void Add(const Case& one, bool quick) {
    for (int threads : threads_) {
      cases_.push_back(one);
      cases_.back().threads = threads;
      cases_.back().quick = quick && (threads == 1 || threads == *threads_.rbegin());
    }
  }
  void AddOneThread(const Case& one, bool quick) {
    cases_.push_back(one);
    cases_.back().threads = 1;
    cases_.back().quick = quick;
  }
  std::vector<Case> Take() { return std::move(cases_); }

 private:
  std::set<int> threads_;
  std::vector<Case> cases_;
};

void AddPlainDecode(CaseList* list) {
  for (DataType dtype : {kF16, kBf16}) {
    for (const Model& model : {kGqa32x8, kGqa64x8, kMha32, kMqa32, kGqa32x8D64}) {
      for (std::int64_t kv : {128, 1024, 4096, 8192, 32768, 131072}) {
        for (std::int64_t batch : {1, 8, 64}) {
          const bool main_model = std::string(model.name) == kGqa32x8.name;
          const bool quick =
              (main_model && ((kv == 32768 && batch == 1) || (kv == 4096 && batch == 8))) ||
              (std::string(model.name) == kMha32.name && kv == 8192 && batch == 1 && dtype == kF16);
          list->Add(
              {.model = model, .query_dtype = dtype, .kv_dtype = dtype, .batch = batch, .kv_length = kv},
              quick);
        }
      }
    }
  }
}

void AddSmallCalls(CaseList* list) {
  const Case plain{.model = kSmall8, .kv_length = 128};
  const Case batched{.model = kSmall8, .batch = 256, .kv_length = 16, .short_kv_length = 8};
  for (Case one : {plain, batched}) {
    one.timed = Timed::kPlan;
    list->AddOneThread(one, true);
    one.timed = Timed::kWholeCall;
    list->AddOneThread(one, true);
  }
  list->AddOneThread(plain, true);
}

void AddOtherDecode(CaseList* list) {
  for (Storage storage : {Storage::kPaged16, Storage::kPaged128, Storage::kFractalNz128}) {
    list->Add({.model = kGqa32x8, .kv_length = 32768, .storage = storage}, true);
    list->Add({.model = kGqa32x8, .batch = 8, .kv_length = 4096, .storage = storage}, false);
  }
  for (DataType dtype : {DataType::kInt8, DataType::kInt4}) {
    for (KvScales scales : {KvScales::kChannel, KvScales::kToken}) {
      list->Add({.model = kGqa32x8, .kv_dtype = dtype, .kv_scales = scales, .kv_length = 32768}, true);
      list->Add({.model = kGqa32x8, .kv_dtype = dtype, .kv_scales = scales, .batch = 8, .kv_length = 4096},
                false);
    }
  }
  for (std::int64_t mtp : {2, 3, 4}) {
    list->Add({.model = kGqa32x8, .query_length = mtp, .kv_length = 32768, .attends = Attends::kCausal},
              mtp == 4);
  }
  list->Add({.model = kGqa32x8, .batch = 64, .kv_length = 4096, .short_kv_length = 256}, true);
  for (std::int64_t precise : {0, 1}) {
    for (std::int64_t kv : {1024, 4096, 32768}) {
      list->Add({.model = kMla128,
                 .query_dtype = kBf16,
                 .kv_dtype = kBf16,
                 .kv_length = kv,
                 .inner_precise = precise},
                kv == 4096);
    }
  }
}

void AddPrefill(CaseList* list) {
  for (DataType dtype : {kF16, kBf16}) {
    for (std::int64_t length : {128, 512, 1024, 2048, 4096, 8192}) {
      for (Attends attends : {Attends::kFull, Attends::kCausal}) {
        const bool quick = (length == 1024 || length == 4096) && attends == Attends::kCausal;
        list->Add({.model = kGqa32x8,
                   .query_dtype = dtype,
                   .kv_dtype = dtype,
                   .query_length = length,
                   .kv_length = length,
                   .attends = attends},
                  quick);
      }
    }
  }
  list->Add({.model = kMha16, .query_length = 1024, .kv_length = 1024}, true);
  list->Add({.model = kGqa32x8D64, .query_length = 2048, .kv_length = 2048, .attends = Attends::kCausal},
            true);
  list->Add({.model = kGqa32x8, .query_length = 8192, .kv_length = 8192, .attends = Attends::kBand1024},
            true);
  for (Attends attends : {Attends::kFull, Attends::kCausal}) {
    list->Add({.model = kGqa32x8,
               .query_dtype = kBf16,
               .kv_dtype = kBf16,
               .query_length = 2048,
               .kv_length = 2048,
               .attends = attends,
               .inner_precise = 1},
              true);
  }
  for (Extra extra : {Extra::kNone, Extra::kBias, Extra::kFullMask}) {
    list->AddOneThread({.model = kMha16, .query_length = 2048, .kv_length = 2048, .extra = extra}, true);
  }
}

}  // namespace

std::string Case::Name() const {
  constexpr const char* kTimed[] = {"", "phase-one/", "whole-call/"};
  std::string name = kTimed[static_cast<int>(timed)];
  name += query_length == 1 ? "decode/" : decode() ? "mtp" + std::to_string(query_length) + "/" : "prefill/";
  name += std::string(model.name) + "/" + DtypeName(query_dtype);
  if (kv_dtype != query_dtype) name.append("-").append(DtypeName(kv_dtype));
  if (kv_scales != KvScales::kNone) name += kv_scales == KvScales::kChannel ? "-channel" : "-token";
  name += "/b" + std::to_string(batch) + "/kv" + std::to_string(kv_length);
  if (short_kv_length > 0)
    name.append("+").append(std::to_string(batch - 1)).append("x").append(std::to_string(short_kv_length));
  constexpr const char* kStorage[] = {"", "/paged16", "/paged128", "/nz128"};
  name += kStorage[static_cast<int>(storage)];
  constexpr const char* kAttends[] = {"", "/causal", "/band1024"};
  name += kAttends[static_cast<int>(attends)];
  constexpr const char* kExtra[] = {"", "/bias", "/mask"};
  name += kExtra[static_cast<int>(extra)];
  if (inner_precise != 0) name += "/precise" + std::to_string(inner_precise);
  return name + "/t" + std::to_string(threads);
}

std::int64_t Case::KvBytes() const {
  const std::int64_t tokens = kv_length + (batch - 1) * (short_kv_length > 0 ? short_kv_length : kv_length);
  // The compressed cache of latent attention serves as key and value: it is read once.
  const std::int64_t dims =
      model.rope_dim > 0 ? model.head_dim + model.rope_dim : model.head_dim + model.value_dim;
  return tokens * model.kv_heads * dims * BitsOf(kv_dtype) / 8;
}

double Case::AttendedPairs() const {
  double pairs = 0;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t keys = b > 0 && short_kv_length > 0 ? short_kv_length : kv_length;
    for (std::int64_t i = 0; i < query_length; ++i) {
      const std::int64_t last = attends == Attends::kFull ? keys - 1 : i + keys - query_length;
      const std::int64_t first = attends == Attends::kBand1024 ? std::max<std::int64_t>(0, last - 1024) : 0;
      pairs += static_cast<double>(std::max<std::int64_t>(0, last - first + 1));
    }
  }
  return pairs;
}

double Case::ScoreFlops() const {
  const std::int64_t dims = model.head_dim + model.rope_dim;
  return 2.0 * static_cast<double>(dims) * static_cast<double>(model.heads) * AttendedPairs();
}

double Case::ValueFlops() const {
  return 2.0 * static_cast<double>(model.value_dim) * static_cast<double>(model.heads) * AttendedPairs();
}

std::vector<Case> AllCases(int all_threads) {
  CaseList list(all_threads);
  AddPlainDecode(&list);
  AddOtherDecode(&list);
  AddPrefill(&list);
  AddSmallCalls(&list);
  return list.Take();
}

}  // namespace fia::bench
