// The rule antiquant: int4, prefixes and caches of 5 axes.
#include <gtest/gtest.h>

#include "check/antiquant_calls.h"

namespace fia::testing {
namespace {

// Sizes of a call with an int4 cache, packed in int32 or not.
AttentionParams Int4(const Sizes& sizes, bool in_int32) {
  AttentionParams params = Quantised(sizes, in_int32 ? kWord : kNibble);
  if (!in_int32) return params;
  for (TensorView* view : {&params.key[0], &params.value[0]})
    SetDim(view, view->rank - 1, view->dims[view->rank - 1] / 8);
  return params;
}

TEST(AntiquantCache, Int4) {
  for (const bool in_int32 : {false, true}) {
    for (const char* layout : {"BNSD", "BSH", "BSND"}) {
      SCOPED_TRACE(layout);
      SCOPED_TRACE(in_int32);
      CheckRows(
          Int4({.layout = layout, .queries = 1}, in_int32),
          {
              Accepted("token", Scales(1, View(kSingle, {2, 16}))),
              Accepted("token and head", Scales(3, View(kSingle, {2, 2, 16}))),
              Accepted("key 0, value 1", Mixed),
              Accepted("combined", Combined(0, View(kHalf, {2}))),
              Wrong("head", Scales(2, View(kHalf, {2})), "keyAntiquantMode", {"int4"}),
              Refused(
                  "int8 output",
                  [](auto& p) {
                    p.attention_out.dtype = kByte;
                    Output8(p).scale = View(kSingle, {1});
                  },
                  "attentionOut", "dtype"),
              Refused("left padding",
                      [](auto& p) {
                        LengthsOf(p).key_value = {5, 5};
                        p.padding = LeftPadding{.query_size = {}, .kv_size = View(DataType::kInt64, {1})};
                      },
                      "kvPaddingSize", "exclusive", {"int4", "key"}),
              Refused(
                  "half the dim",
                  [](auto& p) { SetDim(&p.key[0], p.key[0].rank - 1, p.key[0].dims[p.key[0].rank - 1] / 2); },
                  "key", "shape", {"query"}),
          });
    }
    AttentionParams several = Int4({.dtype = kBfloat}, in_int32);
    for (const Check level : {Check::kStrict, Check::kRelaxed}) {
      EXPECT_EQ(RulesSay(several, level).rule, "antiquant");
      EXPECT_EQ(RulesSay(several, level).parameter, "key");
    }
    const AttentionParams odd = Int4({.dim = 32, .value_dim = 32, .queries = 1}, in_int32);
    EXPECT_EQ(RulesSay(odd, Check::kStrict).rule, "antiquant");
    EXPECT_EQ(RulesSay(odd, Check::kStrict).parameter, "key");
    CheckRelaxedRows(odd, {});
  }
  AttentionParams broken = Int4({.dim = 12, .value_dim = 12, .queries = 1}, true);
  EXPECT_EQ(RulesSay(broken, Check::kRelaxed).rule, "shape");
  EXPECT_EQ(RulesSay(broken, Check::kRelaxed).parameter, "key");
  broken = Int4({.dim = 16, .value_dim = 12, .queries = 1}, true);
  EXPECT_EQ(RulesSay(broken, Check::kRelaxed).parameter, "value");
  CheckRows(Int4(kOne, false),
            {Refused(
                 "innermost stride", [](auto& p) { p.key[0].strides[3] = 2; }, "key", "strides"),
             Refused(
                 "rows at half a byte", [](auto& p) { p.key[0].strides[2] = 129; }, "key", "strides"),
             Accepted("rows with gaps", [](auto& p) { p.key[0].strides[2] = 130; })});
  AttentionParams paged = Paged(kOne, 4);
  paged.key[0].dtype = paged.value[0].dtype = kNibble;
  AddScales(&paged);
  EXPECT_EQ(RulesSay(paged, Check::kRelaxed).rule, "antiquant");
  EXPECT_EQ(RulesSay(paged, Check::kRelaxed).parameter, "key");
}

TEST(AntiquantCache, PrefixIsQuantisedAlike) {
  for (const bool in_int32 : {false, true}) {
    AttentionParams params = Int4(kOne, in_int32);
    AddPrefix(&params, kOne, 8);
    params.prefix->key = params.prefix->value = params.key[0];
    SetDim(&params.prefix->key, 0, 1);
    SetDim(&params.prefix->value, 0, 1);
    CheckRows(params, {Refused(
                           "not quantised",
                           [](auto& p) {
                             p.prefix->key = View(kHalf, {1, 2, 16, 128});
                           },
                           "keySharedPrefix", "prefix"),
                       Accepted("scales of tokens count it", Scales(1, View(kSingle, {2, 32}))),
                       Wrong("short", Scales(1, View(kSingle, {2, 31})), "keyAntiquantScale")});
  }
}

TEST(AntiquantCache, FractalCache) {
  const auto fractal = [](const char* layout, std::int64_t queries, DataType dtype = kBfloat) {
    AttentionParams params = Paged({.layout = layout, .queries = queries, .dtype = dtype}, 5);
    params.key[0] = params.value[0] = CacheView(5, kByte, 4, 128, 2, 128);
    Antiquant(params).key_scale = Antiquant(params).value_scale = View(dtype, {2, 128});
    params.scores.inner_precise = 1;
    return params;
  };
  const Change causal = [](AttentionParams& p) {
    MaskOf(p) = Mask{.tensor = View(kBool, {2048, 2048}), .sparse_mode = 3};
  };
  const Change offsets = [](AttentionParams& p) {
    Antiquant(p).key_offset = Antiquant(p).value_offset = View(kBfloat, {2, 128});
  };
  std::vector<Row> rows = {
      WrongStrict("offsets", offsets, "keyAntiquantOffset"),
      WrongStrict(
          "innerPrecise", [](auto& p) { p.scores.inner_precise = 0; }, "innerPrecise"),
      Wrong("combined", Combined(0, View(kBfloat, {2})), "antiquantScale"),
      WrongStrict(
          "float16",
          [](auto& p) {
            p.query.dtype = p.attention_out.dtype = kHalf;
            Antiquant(p).key_scale = Antiquant(p).value_scale = View(kHalf, {2, 128});
          },
          "query"),
      WrongStrict(
          "block size 256",
          [](auto& p) {
            p.paged->block_size = 256;
            p.key[0] = p.value[0] = CacheView(5, kByte, 4, 256, 2, 128);
          },
          "blockSize"),
  };
  for (const char* layout : {"BSH", "BSND", "BNSD", "TND"}) {
    SCOPED_TRACE(layout);
    CheckRows(fractal(layout, 4), rows);
    CheckRows(fractal(layout, 4), {Accepted("mode 3", causal)});
    CheckRows(fractal(layout, 1), rows);
  }
  CheckRows(fractal("BNSD", 4), {Wrong(
                                     "mode 4",
                                     [=](auto& p) {
                                       causal(p);
                                       p.mask->sparse_mode = 4;
                                     },
                                     "sparseMode"),
                                 Wrong(
                                     "a full mask",
                                     [](auto& p) {
                                       MaskOf(p).tensor = View(kBool, {4, 256});
                                     },
                                     "sparseMode"),
                                 Accepted("token", Scales(1, View(kSingle, {2, 256}))),
                                 WrongStrict("head", Scales(2, View(kBfloat, {2})), "keyAntiquantMode"),
                                 Accepted("tensor", Scales(0, View(kBfloat, {1})))});
  CheckRows(fractal("BNSD", 1), {Accepted("a full mask",
                                          [](auto& p) {
                                            MaskOf(p).tensor = View(kBool, {2, 256});
                                          }),
                                 Wrong(
                                     "int8 output",
                                     [](auto& p) {
                                       p.attention_out.dtype = kByte;
                                       Output8(p).scale = View(kSingle, {1});
                                     },
                                     "attentionOut")});
  CheckRows(fractal("TND", 4),
            {WrongStrict("tensor", Scales(0, View(kBfloat, {1})), "keyAntiquantScale"),
             WrongStrict("token", Scales(1, View(kSingle, {2, 256})), "keyAntiquantScale")});
  AttentionParams narrow = Paged({.dim = 64, .value_dim = 64, .dtype = kBfloat}, 5);
  narrow.key[0] = narrow.value[0] = CacheView(5, kByte, 4, 128, 2, 64);
  AddScales(&narrow);
  narrow.scores.inner_precise = 1;
  EXPECT_EQ(RulesSay(narrow, Check::kStrict).rule, "antiquant");
  EXPECT_EQ(RulesSay(narrow, Check::kStrict).parameter, "key");
  CheckRelaxedRows(narrow, {});
  const auto one_token_each = [](AttentionParams& p) { LengthsOf(p).query = {1, 2}; };
  AttentionParams decode = fractal("TND", 1);  // T 3
  SetDim(&decode.query, 0, 2);
  SetDim(&decode.attention_out, 0, 2);
  one_token_each(decode);
  CheckRows(decode, {Wrong("mode 3 with one token each", causal, "sparseMode")});
  EXPECT_EQ(RulesSay(fractal("BNSD_BSND", 4), Check::kRelaxed).parameter, "inputLayout");
  EXPECT_EQ(RulesSay(fractal("NTD", 4), Check::kRelaxed).rule, "antiquant");
  EXPECT_EQ(RulesSay(fractal("BNSD", 17), Check::kStrict).rule, "antiquant");
  CheckRelaxedRows(fractal("BNSD", 17), {});
}

}  // namespace
}  // namespace fia::testing
