// The rule antiquant: modes, and scales and offsets by mode.
#include <gtest/gtest.h>

#include "check/antiquant_calls.h"

namespace fia::testing {
namespace {

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

}  // namespace
}  // namespace fia::testing
