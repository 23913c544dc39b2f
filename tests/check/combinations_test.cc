// The rules pairs and exclusive, and the order in which the rules of a call are told.
#include <gtest/gtest.h>

#include "check/check.h"
#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {
namespace {

Row Excluded(const char* name, Change change, const char* parameter, std::vector<std::string> told) {
  return Refused(name, std::move(change), parameter, "exclusive", std::move(told));
}

void PadKv(AttentionParams& p) {
  LengthsOf(p).key_value = {5, 5};
  p.padding = LeftPadding{.query_size = {}, .kv_size = View(DataType::kInt64, {1})};
}

void PadQuery(AttentionParams& p) {
  LengthsOf(p).query = {3, 3};
  p.padding = LeftPadding{.query_size = View(DataType::kInt64, {1}), .kv_size = {}};
}

void Sink(AttentionParams& p) { p.scores.learnable_sink = View(p.query.dtype, {4}); }

void Output8Scaled(AttentionParams& p) {
  p.attention_out.dtype = kByte;
  Output8(p).scale = View(kSingle, {1});
}

TEST(Pairs, ScalesOfFloatCallsAreRefused) {
  const auto with = [](const char* name, Change change, const char* parameter) {
    return Refused(name, std::move(change), parameter, "pairs");
  };
  CheckRows(
      Plain(),
      {
          with(
              "antiquantScale", [](auto& p) { Antiquant(p).scale = View(kHalf, {2}); }, "antiquantScale"),
          with(
              "separate scales",
              [](auto& p) { Antiquant(p).key_scale = Antiquant(p).value_scale = View(kHalf, {1}); },
              "keyAntiquantScale"),
          with(
              "value's scale alone", [](auto& p) { Antiquant(p).value_scale = View(kHalf, {1}); },
              "keyAntiquantScale"),
          with(
              "deqScale1", [](auto& p) { Flow8(p).deq_scale1 = View(kSingle, {1}); }, "deqScale1"),
          with(
              "quantScale1", [](auto& p) { Flow8(p).quant_scale1 = View(kSingle, {1}); }, "quantScale1"),
          with(
              "deqScale2", [](auto& p) { Flow8(p).deq_scale2 = View(kSingle, {1}); }, "deqScale2"),
          with(
              "dequantScaleQuery",
              [](auto& p) {
                Mla8(p).query_scale = View(kSingle, {2, 4, 4});
              },
              "dequantScaleQuery"),
          with(
              "queryQuantMode", [](auto& p) { Mla8(p).query_mode = 3; }, "queryQuantMode"),
          Accepted("modes without scales are not looked at",
                   [](auto& p) { Antiquant(p).mode = Antiquant(p).key_mode = Antiquant(p).value_mode = 9; }),
      });
  AttentionParams quantised = Plain({.queries = 1});
  quantised.key[0].dtype = quantised.value[0].dtype = kByte;
  Antiquant(quantised).key_scale = Antiquant(quantised).value_scale = View(kHalf, {1});
  CheckRows(quantised,
            {with(
                 "none", [](auto& p) { p.quantisation.reset(); }, "keyAntiquantScale"),
             with(
                 "no key scale", [](auto& p) { Antiquant(p).key_scale = {}; }, "keyAntiquantScale"),
             with(
                 "no value scale", [](auto& p) { Antiquant(p).value_scale = {}; }, "valueAntiquantScale"),
             with(
                 "one offset", [](auto& p) { Antiquant(p).key_offset = View(kHalf, {1}); },
                 "valueAntiquantOffset")});
}

TEST(Exclusive, Prefix) {
  AttentionParams params = Plain();
  AddPrefix(&params, {}, 8);
  CheckRows(params, {
                        Excluded("list", [](auto& p) { MakeList(&p, {}); }, "keySharedPrefix", {"key"}),
                        Excluded("query padding", PadQuery, "keySharedPrefix", {"queryPaddingSize"}),
                        Excluded("kv padding", PadKv, "keySharedPrefix", {"kvPaddingSize"}),
                        Excluded("rope", [](auto& p) { AddRope(&p, {}); }, "keySharedPrefix", {"queryRope"}),
                        Strict("sink", Sink, "learnableSink", "exclusive", {"keySharedPrefix"}),
                        Accepted("pseShift",
                                 [](auto& p) {
                                   p.scores.pse_shift = View(kHalf, {1, 4, 4, 24});
                                 }),
                        Accepted("int8 output", Output8Scaled),
                    });
  CheckRows(Paged({}, 4),
            {Excluded("paged", [](auto& p) { AddPrefix(&p, {}, 8); }, "keySharedPrefix", {"blockTable"})});
  CheckRows(Plain({.dim = 192}), {Excluded("two head dims", [](auto& p) { AddPrefix(&p, {.dim = 192}, 8); },
                                           "keySharedPrefix", {"value"})});
  CheckRows(Plain({.layout = "TND"}),
            {Excluded("packed", [](auto& p) { AddPrefix(&p, {.layout = "TND"}, 8); }, "keySharedPrefix",
                      {"inputLayout"})});
}

TEST(Exclusive, LeftPadding) {
  CheckRows(Plain(), {Accepted("query", PadQuery), Accepted("kv", PadKv)});
  for (const bool query : {true, false}) {
    const Change pad = query ? Change(PadQuery) : Change(PadKv);
    const char* parameter = query ? "queryPaddingSize" : "kvPaddingSize";
    AttentionParams list = Plain();
    MakeList(&list, {});
    CheckRows(list, {Excluded("list", pad, parameter, {"key"})});
    CheckRows(Paged({}, 4), {Excluded("paged", pad, parameter, {"blockTable"})});
    CheckRows(Plain({.dim = 192}), {Excluded("two head dims", pad, parameter, {"value"})});
    AttentionParams rope = Plain();
    AddRope(&rope, {});
    CheckRows(rope, {Excluded("rope", pad, parameter, {"queryRope"})});
    CheckRows(Plain(), {Strict("sink",
                               [=](auto& p) {
                                 pad(p);
                                 Sink(p);
                               },
                               "learnableSink", "exclusive", {parameter})});
    CheckRows(Plain({.layout = "TND"}), {Excluded("packed",
                                                  [=](auto& p) {
                                                    const SequenceLengths lengths = *p.lengths;
                                                    pad(p);
                                                    p.lengths = lengths;
                                                  },
                                                  parameter, {"inputLayout"})});
  }
}

TEST(Exclusive, ListPseOutputAntiquantAndSink) {
  AttentionParams list = Plain();
  MakeList(&list, {});
  CheckRows(list, {Excluded("rope", [](auto& p) { AddRope(&p, {}); }, "key", {"queryRope"}),
                   Excluded("paged",
                            [](auto& p) {
                              p.paged = PagedCache{.block_table = View(kWord, {2, 1}), .block_size = 128};
                              LengthsOf(p).key_value = {5, 5};
                            },
                            "key", {"blockTable"}),
                   Accepted("sink", Sink)});
  AttentionParams rope = Plain();
  AddRope(&rope, {});
  CheckRows(rope,
            {Excluded("pseShift",
                      [](auto& p) {
                        p.scores.pse_shift = View(kHalf, {1, 4, 4, 16});
                      },
                      "pseShift", {"queryRope"}),
             Excluded("int8 output", Output8Scaled, "attentionOut", {"queryRope"}), Accepted("sink", Sink)});
  CheckRows(Plain({.dim = 192}), {Excluded("int8 output", Output8Scaled, "attentionOut", {"value"})});
  CheckRows(
      Plain({.layout = "TND"}),
      {Excluded("int8 output", Output8Scaled, "attentionOut", {"inputLayout"}), Accepted("sink", Sink)});
  CheckRows(Plain(), {Strict("sink and pseShift",
                             [](auto& p) {
                               Sink(p);
                               p.scores.pse_shift = View(kHalf, {1, 4, 4, 16});
                             },
                             "learnableSink", "exclusive", {"pseShift"}),
                      Excluded("sink and int8 output",
                               [](auto& p) {
                                 Sink(p);
                                 Output8Scaled(p);
                               },
                               "learnableSink", {"attentionOut"})});
  AttentionParams wide = Plain({.dim = 512, .value_dim = 512});
  Sink(wide);
  EXPECT_EQ(RulesSay(wide, Check::kStrict).parameter, "learnableSink");
  CheckRelaxedRows(wide, {});
}

TEST(Exclusive, Antiquant) {
  const auto quantise = [](AttentionParams& p) {
    p.key[0].dtype = p.value[0].dtype = kByte;
    Antiquant(p).key_scale = Antiquant(p).value_scale = View(p.query.dtype, {1});
  };
  const Sizes sizes{.queries = 1};
  CheckRows(Plain(sizes), {Accepted("alone", quantise),
                           Excluded("sink",
                                    [=](auto& p) {
                                      quantise(p);
                                      Sink(p);
                                    },
                                    "learnableSink", {"key"}),
                           Excluded("rope",
                                    [=](auto& p) {
                                      quantise(p);
                                      AddRope(&p, sizes);
                                    },
                                    "key", {"queryRope"})});
  CheckRows(Plain({.layout = "TND", .dtype = kBfloat}),
            {Excluded("packed", quantise, "key", {"inputLayout"})});
}

TEST(Order, OfTheRulesOfACall) {
  struct Fault {
    const char* rule;
    Change change;
  };
  // Each breaks its rule and none before it; together with any later one it is the one that is told.
  const std::vector<Fault> faults = {
      {"layout", [](auto& p) { p.heads.layout = "BNDS"; }},
      {"heads", [](auto& p) { p.heads.num_heads = 5; }},
      {"shape", [](auto& p) { SetDim(&p.value[0], 2, 7); }},
      {"dtype", [](auto& p) { p.value[0].dtype = kBfloat; }},
      {"lengths", [](auto& p) { LengthsOf(p).key_value = {-1}; }},
      {"mask", [](auto& p) { MaskOf(p).sparse_mode = 9; }},
      {"pse", [](auto& p) { p.scores.pse_shift = View(kHalf, {9}); }},
      {"sink", [](auto& p) { p.scores.learnable_sink = View(kHalf, {9}); }},
      {"lse", [](auto& p) { p.softmax_lse = View(kSingle, {9}); }},
      {"rope",
       [](auto& p) {
         AddRope(&p, {});
         SetDim(&p.rope->query, 0, 9);
       }},
      {"prefix",
       [](auto& p) {
         AddPrefix(&p, {}, 8);
         p.prefix->key.dtype = kBfloat;
       }},
      {"post_quant", [](auto& p) { Output8(p).scale = View(kSingle, {1}); }},
      {"inner_precise", [](auto& p) { p.scores.inner_precise = 9; }},
      {"scale", [](auto& p) { p.scores.scale = 1e300; }},
      {"pairs", [](auto& p) { Flow8(p).deq_scale1 = View(kSingle, {1}); }},
      {"exclusive",
       [](auto& p) {
         AddRope(&p, {});
         p.scores.pse_shift = View(kHalf, {1, 4, 4, 24});
       }},
  };
  for (const Check level : {Check::kStrict, Check::kRelaxed}) {
    for (std::size_t first = 0; first < faults.size(); ++first) {
      AttentionParams one = Plain();
      faults[first].change(one);
      EXPECT_EQ(RulesSay(one, level).rule, faults[first].rule);
      for (std::size_t second = first + 1; second < faults.size(); ++second) {
        AttentionParams both = Plain();
        faults[second].change(both);
        faults[first].change(both);
        EXPECT_EQ(RulesSay(both, level).rule, faults[first].rule) << "with " << faults[second].rule;
      }
    }
  }
}

TEST(Empty, KeysWithoutElementsLeaveNothingToCompute) {
  AttentionParams output = Plain();
  Output8Scaled(output);
  Call call;
  ASSERT_TRUE(CheckCall(output, &call).ok());
  EXPECT_FALSE(call.fill_only);
  SetDim(&output.key[0], 2, 0);
  SetDim(&output.value[0], 2, 0);
  EXPECT_TRUE(CheckCall(output, &call).ok());
  EXPECT_TRUE(call.fill_only);
}

}  // namespace
}  // namespace fia::testing
