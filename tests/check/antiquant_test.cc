// The rule antiquant: an int8 or int4 cache under a float16 or bfloat16 query.
#include <gtest/gtest.h>

#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {
namespace {

// Per-tensor separate scales, mode 0.
void AddScales(AttentionParams* params) {
  const DataType dtype = params->query.dtype;
  Antiquant(*params).key_scale = Antiquant(*params).value_scale = View(dtype, {1});
}

AttentionParams Quantised(const Sizes& sizes, DataType dtype = kByte) {
  AttentionParams params = Plain(sizes);
  params.key[0].dtype = params.value[0].dtype = dtype;
  AddScales(&params);
  return params;
}

// Both scales of one mode and shape.
Change Scales(std::int64_t mode, const TensorView& view) {
  return [=](AttentionParams& p) {
    Antiquant(p) = KvAntiquant{.key_scale = view, .value_scale = view, .key_mode = mode, .value_mode = mode};
  };
}

Change Combined(std::int64_t mode, const TensorView& view) {
  return [=](AttentionParams& p) { Antiquant(p) = KvAntiquant{.scale = view, .mode = mode}; };
}

Change Modes(std::int64_t key, std::int64_t value) {
  return [=](AttentionParams& p) {
    Antiquant(p).key_mode = key;
    Antiquant(p).value_mode = value;
  };
}

// Key per tensor, value per token.
void Mixed(AttentionParams& p) {
  Antiquant(p) = KvAntiquant{.key_scale = View(p.query.dtype, {1}),
                             .value_scale = View(kSingle, {2, 16}),
                             .key_mode = 0,
                             .value_mode = 1};
}

Row Wrong(const char* name, Change change, const char* parameter, std::vector<std::string> told = {}) {
  return Refused(name, std::move(change), parameter, "antiquant", std::move(told));
}

Row WrongStrict(const char* name, Change change, const char* parameter, std::vector<std::string> told = {}) {
  return Strict(name, std::move(change), parameter, "antiquant", std::move(told));
}

constexpr Sizes kOne{.queries = 1};  // B 2, Nk 2, D 128, KV_S 16

TEST(Antiquant, ShapesByMode) {
  std::vector<Row> rows;
  for (const TensorView& view :
       {View(kHalf, {1}), View(kHalf, {1, 2, 1, 128}), View(kHalf, {1, 1, 2, 128}), View(kHalf, {1, 2, 128}),
        View(kHalf, {1, 256}), View(kHalf, {2, 1, 128}), View(kHalf, {2, 128}), View(kHalf, {256})}) {
    rows.push_back(Accepted("mode 0", Scales(0, view)));
    rows.push_back(Accepted("mode 0 with offsets", [=](auto& p) {
      Scales(0, view)(p);
      Antiquant(p).key_offset = Antiquant(p).value_offset = view;
    }));
  }
  for (const TensorView& view : {View(kSingle, {1, 2, 16}), View(kSingle, {2, 16}), View(kSingle, {2, 21})}) {
    rows.push_back(Accepted("mode 1", Scales(1, view)));
  }
  rows.push_back(Accepted("mode 2", Scales(2, View(kHalf, {2}))));
  rows.push_back(Accepted("mode 3", Scales(3, View(kSingle, {1, 2, 2, 16}))));
  rows.push_back(Accepted("mode 3", Scales(3, View(kSingle, {2, 2, 17}))));
  rows.push_back(Accepted("key 0, value 1", Mixed));
  for (const TensorView& view : {View(kHalf, {2}), View(kHalf, {}), View(kHalf, {1, 1}), View(kHalf, {128}),
                                 View(kHalf, {2, 127}), View(kHalf, {128, 2}), View(kHalf, {2, 2, 128})}) {
    rows.push_back(Wrong("mode 0", Scales(0, view), "keyAntiquantScale", {"keyAntiquantMode = 0"}));
  }
  rows.push_back(Wrong("mode 1, short", Scales(1, View(kSingle, {2, 15})), "keyAntiquantScale", {">=16"}));
  rows.push_back(Wrong("mode 1, batch", Scales(1, View(kSingle, {1, 16})), "keyAntiquantScale"));
  rows.push_back(Wrong("mode 2", Scales(2, View(kHalf, {4})), "keyAntiquantScale", {"(2)"}));
  rows.push_back(Wrong("mode 3, heads", Scales(3, View(kSingle, {2, 4, 16})), "keyAntiquantScale"));
  rows.push_back(Wrong("value's shape", [](auto& p) { Antiquant(p).value_scale = View(kHalf, {3}); },
                       "valueAntiquantScale", {"valueAntiquantMode"}));
  rows.push_back(Wrong("mode 0 dtype", Scales(0, View(kSingle, {1})), "keyAntiquantScale", {"float16"}));
  rows.push_back(Wrong("mode 1 dtype", Scales(1, View(kHalf, {2, 16})), "keyAntiquantScale", {"float32"}));
  rows.push_back(Wrong(
      "offset's dtype",
      [](auto& p) {
        Antiquant(p).key_offset = View(kSingle, {1});
        Antiquant(p).value_offset = View(kHalf, {1});
      },
      "keyAntiquantOffset"));
  rows.push_back(Wrong("offset's shape",
                       [](auto& p) {
                         Antiquant(p).key_offset = View(kHalf, {1});
                         Antiquant(p).value_offset = View(kHalf, {2, 128});
                       },
                       "valueAntiquantOffset", {"valueAntiquantScale"}));
  CheckRows(Quantised(kOne), rows);
}

TEST(Antiquant, ModesOfOnePosition) {
  std::vector<Row> rows;
  for (const std::int64_t mode : {-1, 6, 7}) {
    rows.push_back(Wrong("unknown", Modes(mode, mode), "keyAntiquantMode", {"0 to 5"}));
    rows.push_back(Wrong("unknown value", Modes(0, mode), "valueAntiquantMode"));
  }
  rows.push_back(Wrong("key 1, value 0", Modes(1, 0), "valueAntiquantMode", {"keyAntiquantMode"}));
  rows.push_back(Wrong("key 0, value 2", Modes(0, 2), "valueAntiquantMode"));
  rows.push_back(Wrong("4 needs pages", Modes(4, 4), "keyAntiquantMode", {"blockTable"}));
  rows.push_back(Wrong("5 needs pages", Modes(5, 5), "keyAntiquantMode", {"blockTable"}));
  CheckRows(Quantised(kOne), rows);
  Sizes bfloat = kOne;
  bfloat.dtype = kBfloat;
  CheckRows(Quantised(bfloat), {WrongStrict("key 0, value 1", Mixed, "valueAntiquantMode", {"float16"})});
}

TEST(Antiquant, PagedScales) {
  AttentionParams params = Paged(kOne, 4);  // 4 blocks of 128
  params.key[0].dtype = params.value[0].dtype = kByte;
  AddScales(&params);
  LengthsOf(params).key_value = {5, 129};
  CheckRows(params, {
                        Accepted("mode 4", Scales(4, View(kSingle, {4, 128}))),
                        Accepted("mode 5", Scales(5, View(kSingle, {4, 2, 128}))),
                        Wrong("mode 4, blocks", Scales(4, View(kSingle, {3, 128})), "keyAntiquantScale"),
                        Wrong("mode 4, block size", Scales(4, View(kSingle, {4, 64})), "keyAntiquantScale"),
                        Wrong("mode 5, heads", Scales(5, View(kSingle, {4, 4, 128})), "keyAntiquantScale"),
                        Accepted("mode 1 goes by tokens", Scales(1, View(kSingle, {2, 256}))),
                        Wrong("mode 1, short", Scales(1, View(kSingle, {2, 255})), "keyAntiquantScale"),
                        Strict("blocks of int8",
                               [](auto& p) {
                                 p.paged->block_size = 80;
                                 p.key[0] = p.value[0] = CacheView(4, kByte, 4, 80, 2, 128);
                               },
                               "blockSize", "paged", {"32"}),
                    });
}

TEST(Antiquant, CombinedScales) {
  CheckRows(Quantised(kOne),
            {
                Accepted("tensor", Combined(0, View(kHalf, {2}))),
                Accepted("channel", Combined(0, View(kHalf, {2, 2, 1, 128}))),
                Accepted("channel", Combined(0, View(kHalf, {2, 1, 2, 128}))),
                Accepted("channel", Combined(0, View(kHalf, {2, 2, 128}))),
                Accepted("channel", Combined(0, View(kHalf, {2, 256}))),
                Accepted("token", Combined(1, View(kSingle, {2, 2, 16}))),
                Accepted("offset",
                         [](auto& p) {
                           Combined(0, View(kHalf, {2, 256}))(p);
                           Antiquant(p).offset = View(kHalf, {2, 256});
                         }),
                Wrong("mode 2", Combined(2, View(kHalf, {2, 2})), "antiquantMode"),
                Wrong("tensor", Combined(0, View(kHalf, {1})), "antiquantScale", {"antiquantMode"}),
                Wrong("token", Combined(1, View(kSingle, {2, 16})), "antiquantScale"),
                Wrong("token's dtype", Combined(1, View(kHalf, {2, 2, 16})), "antiquantScale"),
                Wrong("offset",
                      [](auto& p) {
                        Combined(0, View(kHalf, {2, 256}))(p);
                        Antiquant(p).offset = View(kHalf, {2});
                      },
                      "antiquantOffset", {"antiquantScale"}),
                Accepted("not looked at beside separate ones",
                         [](auto& p) {
                           Antiquant(p).scale = View(kByte, {-3});
                           Antiquant(p).offset = View(kBool, {0});
                           Antiquant(p).mode = 99;
                         }),
                Accepted("separate offsets are not looked at beside a combined scale",
                         [](auto& p) {
                           Combined(0, View(kHalf, {2}))(p);
                           Antiquant(p).key_offset = View(kBool, {-3});
                           Antiquant(p).key_mode = 99;
                         }),
            });
  Sizes two_dims{.dim = 192, .queries = 1};
  CheckRows(Quantised(two_dims),
            {Wrong("two head dims", Combined(0, View(kHalf, {2})), "antiquantScale", {"192"})});
}

TEST(Antiquant, SeveralPositions) {
  const Sizes bfloat{.dtype = kBfloat};
  std::vector<Row> rows = {
      Accepted("token", Scales(1, View(kSingle, {2, 16}))),
      WrongStrict("head", Scales(2, View(kBfloat, {2})), "keyAntiquantMode"),
      WrongStrict("token and head", Scales(3, View(kSingle, {2, 2, 16})), "keyAntiquantMode"),
      WrongStrict("key 0, value 1", Mixed, "valueAntiquantMode"),
      WrongStrict(
          "int8 output",
          [](auto& p) {
            p.attention_out.dtype = kByte;
            Output8(p).scale = View(kSingle, {1});
          },
          "attentionOut"),
      WrongStrict(
          "list",
          [=](auto& p) {
            MakeList(&p, bfloat);
            for (auto& member : p.key) member.dtype = kByte;
            for (auto& member : p.value) member.dtype = kByte;
          },
          "key"),
      WrongStrict(
          "left padding",
          [](auto& p) {
            LengthsOf(p).key_value = {5, 5};
            p.padding = LeftPadding{.query_size = {}, .kv_size = View(DataType::kInt64, {1})};
          },
          "kvPaddingSize"),
      WrongStrict("combined with bfloat16", Combined(0, View(kBfloat, {2})), "query", {"float16"}),
  };
  CheckRows(Quantised(bfloat), rows);
  CheckRows(Quantised({.queries = 16, .dtype = kBfloat}), {});
  CheckRelaxedRows(Quantised({.queries = 17, .dtype = kBfloat}), {});
  EXPECT_EQ(RulesSay(Quantised({.queries = 17, .dtype = kBfloat}), Check::kStrict).rule, "antiquant");
  // A float16 query takes combined scales, in strict checking those alone; antiquantMode is not looked at.
  AttentionParams combined = Quantised({.queries = 40});
  Combined(77, View(kHalf, {2}))(combined);
  CheckRows(combined, {WrongStrict(
                          "separate",
                          [](auto& p) {
                            Antiquant(p) = KvAntiquant{};
                            AddScales(&p);
                          },
                          "query")});
  CheckRows(Quantised(bfloat), {WrongStrict(
                                   "paged in 4 axes",
                                   [](auto& p) {
                                     AttentionParams paged = Paged({.dtype = kBfloat}, 4);
                                     paged.quantisation = p.quantisation;
                                     paged.key[0].dtype = paged.value[0].dtype = kByte;
                                     p = paged;
                                   },
                                   "key")});
}

// Sizes of a call with an int4 cache, packed in int32 or not.
AttentionParams Int4(const Sizes& sizes, bool in_int32) {
  AttentionParams params = Quantised(sizes, in_int32 ? kWord : kNibble);
  if (!in_int32) return params;
  for (TensorView* view : {&params.key[0], &params.value[0]})
    SetDim(view, view->rank - 1, view->dims[view->rank - 1] / 8);
  return params;
}

TEST(Antiquant, Int4) {
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

TEST(Antiquant, PrefixIsQuantisedAlike) {
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

TEST(Antiquant, FractalCache) {
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
  EXPECT_EQ(RulesSay(fractal("BNSD_BSND", 4), Check::kRelaxed).parameter, "inputLayout");
  EXPECT_EQ(RulesSay(fractal("NTD", 4), Check::kRelaxed).rule, "antiquant");
  EXPECT_EQ(RulesSay(fractal("BNSD", 17), Check::kStrict).rule, "antiquant");
  CheckRelaxedRows(fractal("BNSD", 17), {});
}

}  // namespace
}  // namespace fia::testing
