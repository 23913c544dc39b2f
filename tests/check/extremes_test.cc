// Calls with numbers that nobody means: no rule may overflow, loop long or read past an array.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "check/check.h"
#include "check/plain_call.h"
#include "check/rows.h"
#include "support/rng.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kNumbers[] = {std::numeric_limits<std::int64_t>::min(),
                                     std::numeric_limits<std::int64_t>::min() + 1,
                                     -(std::int64_t{1} << 32),
                                     -2147483648,
                                     -2,
                                     -1,
                                     0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     16,
                                     64,
                                     512,
                                     2048,
                                     65536,
                                     2147483647,
                                     std::int64_t{1} << 32,
                                     std::int64_t{1} << 40,
                                     (std::int64_t{1} << 60) - 1,
                                     std::int64_t{1} << 60,
                                     std::int64_t{1} << 62,
                                     std::numeric_limits<std::int64_t>::max() - 1,
                                     std::numeric_limits<std::int64_t>::max()};

std::int64_t AnyNumber(Rng& rng) { return kNumbers[rng.Between(0, std::size(kNumbers) - 1)]; }

DataType AnyType(Rng& rng) { return static_cast<DataType>(rng.Between(-1, 40)); }

TensorView AnyView(Rng& rng) {
  TensorView view = View(AnyType(rng), {});
  view.rank = static_cast<std::int32_t>(rng.Between(-1, 9));
  if (rng.Chance(0.05)) view.rank = static_cast<std::int32_t>(AnyNumber(rng));
  for (std::int64_t& dim : view.dims) dim = AnyNumber(rng);
  for (std::int64_t& stride : view.strides) stride = AnyNumber(rng);
  return view;
}

// Every tensor that a call can have, members of the groups it has included.
std::vector<TensorView*> ViewsOf(AttentionParams& p) {
  std::vector<TensorView*> views = {&p.query, &p.attention_out, &p.scores.pse_shift,
                                    &p.scores.learnable_sink};
  for (TensorView& member : p.key) views.push_back(&member);
  for (TensorView& member : p.value) views.push_back(&member);
  if (p.softmax_lse) views.push_back(&*p.softmax_lse);
  if (p.mask) views.push_back(&p.mask->tensor);
  if (p.paged) views.push_back(&p.paged->block_table);
  if (p.prefix) views.insert(views.end(), {&p.prefix->key, &p.prefix->value});
  if (p.rope) views.insert(views.end(), {&p.rope->query, &p.rope->key});
  if (p.padding) views.insert(views.end(), {&p.padding->query_size, &p.padding->kv_size});
  KvAntiquant& kv = Antiquant(p);
  views.insert(views.end(), {&kv.key_scale, &kv.key_offset, &kv.value_scale, &kv.value_offset, &kv.scale,
                             &kv.offset, &Flow8(p).deq_scale1, &Flow8(p).quant_scale1, &Flow8(p).deq_scale2,
                             &Output8(p).scale, &Output8(p).offset, &Mla8(p).query_scale});
  return views;
}

void ChangeView(AttentionParams& p, Rng& rng) {
  const std::vector<TensorView*> views = ViewsOf(p);
  TensorView& view =
      *views[static_cast<std::size_t>(rng.Between(0, static_cast<std::int64_t>(views.size()) - 1))];
  const auto axis = static_cast<std::size_t>(rng.Between(0, kMaxRank - 1));
  switch (rng.Between(0, 5)) {
    case 0:
      view = AnyView(rng);
      return;
    case 1:
      view.dtype = AnyType(rng);
      return;
    case 2:
      view.strides[axis] = AnyNumber(rng);
      return;
    case 3:
      view = {};
      return;
    default:
      view.dims[axis] = AnyNumber(rng);
      if (rng.Chance(0.5)) view.SetRowMajorStrides();
  }
}

void ChangeNumber(AttentionParams& p, Rng& rng) {
  const std::int64_t number = AnyNumber(rng);
  std::int64_t* const numbers[] = {&p.heads.num_heads,     &p.heads.num_kv_heads,    &p.scores.inner_precise,
                                   &MaskOf(p).sparse_mode, &MaskOf(p).pre_tokens,    &MaskOf(p).next_tokens,
                                   &Antiquant(p).key_mode, &Antiquant(p).value_mode, &Antiquant(p).mode,
                                   &Mla8(p).query_mode};
  *numbers[rng.Between(0, std::size(numbers) - 1)] = number;
  if (p.paged && rng.Chance(0.3)) p.paged->block_size = number;
}

void ChangeLengths(AttentionParams& p, Rng& rng) {
  std::vector<std::int64_t>& lengths = rng.Chance(0.5)                ? LengthsOf(p).query
                                       : rng.Chance(0.7) || !p.prefix ? LengthsOf(p).key_value
                                                                      : p.prefix->length;
  lengths.resize(static_cast<std::size_t>(rng.Between(0, 4)));
  for (std::int64_t& length : lengths) length = AnyNumber(rng);
}

constexpr const char* kLayoutNames[] = {"BSH",       "BSND",     "BNSD",      "BSH_BNSD",  "BSND_BNSD",
                                        "BNSD_BSND", "BSH_NBSD", "BSND_NBSD", "BNSD_NBSD", "TND",
                                        "NTD",       "NTD_TND",  "TND_NTD"};

AttentionParams AnyCall(Rng& rng) {
  Sizes sizes{.layout = kLayoutNames[rng.Between(0, 12)], .queries = rng.Chance(0.4) ? 1 : 4};
  if (rng.Chance(0.3)) sizes.kv_heads = 1, sizes.dim = sizes.value_dim = 512;
  AttentionParams params = rng.Chance(0.5) ? Plain(sizes) : Paged(sizes, static_cast<int>(rng.Between(3, 5)));
  if (rng.Chance(0.3)) AddRope(&params, sizes);
  if (rng.Chance(0.2)) AddPrefix(&params, sizes, 8);
  if (rng.Chance(0.2)) MakeList(&params, sizes);
  if (rng.Chance(0.3)) params.softmax_lse = View(kSingle, {2, 4, sizes.queries, 1});
  if (rng.Chance(0.3))
    MaskOf(params) = Mask{.tensor = View(kBool, {2048, 2048}), .sparse_mode = rng.Between(0, 4)};
  if (rng.Chance(0.3)) params.scores.pse_shift = View(kHalf, {1, 4, 8, 256});
  if (rng.Chance(0.2)) {
    params.padding =
        LeftPadding{.query_size = View(DataType::kInt64, {1}), .kv_size = View(DataType::kInt64, {1})};
  }
  if (rng.Chance(0.3)) {
    params.key[0].dtype = params.value[0].dtype = rng.Chance(0.6) ? kByte : rng.Chance(0.5) ? kNibble : kWord;
    Antiquant(params).key_scale = Antiquant(params).value_scale =
        View(rng.Chance(0.5) ? kHalf : kSingle, {1});
    if (rng.Chance(0.3)) params.query.dtype = kByte;
  }
  if (rng.Chance(0.2)) params.attention_out.dtype = kByte;
  return params;
}

void CheckSeed(std::uint64_t seed) {
  SCOPED_TRACE("replay with FIA_CHECK_SEED=" + std::to_string(seed));
  Rng rng(seed);
  AttentionParams params = AnyCall(rng);
  for (std::int64_t changes = rng.Between(0, 3); changes > 0; --changes) {
    const double kind = rng.Unit();
    kind < 0.6   ? ChangeView(params, rng)
    : kind < 0.8 ? ChangeNumber(params, rng)
                 : ChangeLengths(params, rng);
  }
  params.execution.check = rng.Chance(0.3) ? Check::kStrict : Check::kRelaxed;
  Call call;
  const Status status = CheckCall(params, &call);
  if (status.ok()) {
    EXPECT_EQ(status.message + status.parameter + status.rule, "");
    if (!call.fill_only) {
      EXPECT_EQ(static_cast<std::int64_t>(call.query_lengths.size()), call.batch);
      EXPECT_EQ(static_cast<std::int64_t>(call.kv_lengths.size()), call.batch);
    }
    return;
  }
  EXPECT_EQ(status.message.rfind(status.parameter + ": ", 0), 0u) << status.message;
  EXPECT_NE(status.message.find(" [" + status.rule + "]"), std::string::npos) << status.message;
  EXPECT_LT(status.message.size(), 700u) << status.message;
}

TEST(Extremes, RandomCalls) {
  if (const char* seed = std::getenv("FIA_CHECK_SEED")) {
    CheckSeed(std::strtoull(seed, nullptr, 10));
    return;
  }
  for (std::uint64_t seed = 0; seed < 100000; ++seed) CheckSeed(seed);
}

}  // namespace
}  // namespace fia::testing
