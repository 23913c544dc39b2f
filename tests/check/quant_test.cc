// The rules quant, post_quant and mla_quant: int8 queries and outputs.
#include <gtest/gtest.h>

#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {
namespace {

constexpr DataType kPattern = DataType::kUint64;

AttentionParams Int8Call(const Sizes& sizes = {}) {
  AttentionParams params = Plain(sizes);
  params.query.dtype = params.key[0].dtype = params.value[0].dtype = kByte;
  Flow8(params) = {.deq_scale1 = View(kSingle, {1}),
                   .quant_scale1 = View(kSingle, {1}),
                   .deq_scale2 = View(kPattern, {1})};
  return params;
}

TEST(Quant, Int8QueryKeyAndValue) {
  CheckRows(Int8Call(),
            {
                Accepted("patterns of any rank",
                         [](auto& p) {
                           Flow8(p).deq_scale1 = View(kPattern, {1, 1});
                         }),
                Accepted("no axis", [](auto& p) { Flow8(p).deq_scale2 = View(kSingle, {}); }),
                Accepted("half pseShift",
                         [](auto& p) {
                           p.scores.pse_shift = View(kHalf, {1, 4, 4, 16});
                         }),
                Accepted("left padding",
                         [](auto& p) {
                           LengthsOf(p).key_value = {5, 5};
                           p.padding = LeftPadding{.query_size = {}, .kv_size = View(DataType::kInt64, {1})};
                         }),
                Accepted("a list",
                         [](auto& p) {
                           MakeList(&p, {});
                           for (auto* list : {&p.key, &p.value}) {
                             for (TensorView& member : *list) member.dtype = kByte;
                           }
                         }),
                Accepted("int8 output",
                         [](auto& p) {
                           p.attention_out.dtype = kByte;
                           Output8(p).scale = View(kBfloat, {1});
                         }),
                Refused(
                    "int8 pseShift is none",
                    [](auto& p) {
                      p.scores.pse_shift = View(kBfloat, {1, 4, 4, 16});
                    },
                    "pseShift", "dtype"),
                Refused(
                    "two elements", [](auto& p) { Flow8(p).deq_scale1 = View(kSingle, {2}); }, "deqScale1",
                    "quant"),
                Refused(
                    "two elements", [](auto& p) { Flow8(p).quant_scale1 = View(kSingle, {2}); },
                    "quantScale1", "quant"),
                Refused(
                    "two elements", [](auto& p) { Flow8(p).deq_scale2 = View(kSingle, {2}); }, "deqScale2",
                    "quant"),
                Refused(
                    "no deqScale1", [](auto& p) { Flow8(p).deq_scale1 = {}; }, "deqScale1", "pairs"),
                Refused(
                    "no quantScale1", [](auto& p) { Flow8(p).quant_scale1 = {}; }, "quantScale1", "pairs"),
                Refused(
                    "no deqScale2", [](auto& p) { Flow8(p).deq_scale2 = {}; }, "deqScale2", "pairs"),
                Refused(
                    "none", [](auto& p) { p.quantisation.reset(); }, "deqScale1", "pairs"),
                Refused(
                    "antiquant scales",
                    [](auto& p) { Antiquant(p).key_scale = Antiquant(p).value_scale = View(kHalf, {1}); },
                    "keyAntiquantScale", "pairs"),
                Refused("prefix",
                        [](auto& p) {
                          AddPrefix(&p, {}, 8);
                          p.prefix->key.dtype = p.prefix->value.dtype = kByte;
                        },
                        "keySharedPrefix", "exclusive", {"query"}),
                Refused(
                    "sink", [](auto& p) { p.scores.learnable_sink = View(kHalf, {4}); }, "learnableSink",
                    "exclusive"),
                Refused(
                    "rope", [](auto& p) { AddRope(&p, {.dtype = kBfloat}); }, "queryRope", "quant"),
                Refused("a table",
                        [](auto& p) {
                          p.paged = PagedCache{.block_table = View(kWord, {2, 1}), .block_size = 32};
                          p.key[0] = p.value[0] = CacheView(4, kByte, 2, 32, 2, 128);
                          LengthsOf(p).key_value = {5, 5};
                        },
                        "blockTable", "quant", {"query"}),
            });
  for (const Check level : {Check::kStrict, Check::kRelaxed}) {
    EXPECT_EQ(RulesSay(Int8Call({.queries = 1}), level).rule, "quant");
    EXPECT_EQ(RulesSay(Int8Call({.queries = 1}), level).parameter, "query");
    EXPECT_EQ(RulesSay(Int8Call({.layout = "TND"}), level).rule, "quant");
  }
}

AttentionParams Int8OutputCall(const Sizes& sizes = {}) {
  AttentionParams params = Plain(sizes);
  params.attention_out.dtype = kByte;
  Output8(params).scale = View(kSingle, {1});
  return params;
}

Change Scale(const TensorView& scale, const TensorView& offset = {}) {
  return [=](AttentionParams& p) { Output8(p) = {.scale = scale, .offset = offset}; };
}

TEST(PostQuant, ScalesAndOffsets) {
  std::vector<Row> rows = {
      Accepted("any rank", Scale(View(kSingle, {1, 1, 1}))),
      Accepted("an offset", Scale(View(kSingle, {1}), View(kSingle, {1}))),
      Refused("none", [](auto& p) { p.quantisation.reset(); }, "quantScale2", "post_quant", {"attentionOut"}),
      Refused("not int8", [](auto& p) { p.attention_out.dtype = kHalf; }, "quantScale2", "post_quant",
              {"attentionOut"}),
      Refused("float16", Scale(View(kHalf, {1})), "quantScale2", "post_quant"),
      Refused("bfloat16 for a float16 query", Scale(View(kBfloat, {1})), "quantScale2", "post_quant"),
      Refused("count", Scale(View(kSingle, {511})), "quantScale2", "post_quant", {"D = 128", "numHeads = 4"}),
      Refused("offset's dtype", Scale(View(kSingle, {1}), View(kBfloat, {1})), "quantOffset2", "post_quant",
              {"quantScale2"}),
      Refused("offset's shape", Scale(View(kSingle, {1}), View(kSingle, {1, 1})), "quantOffset2",
              "post_quant"),
      Refused("channels with lse",
              [](auto& p) {
                Scale(View(kSingle, {4, 128}))(p);
                p.softmax_lse = View(kSingle, {2, 4, 4, 1});
              },
              "quantScale2", "post_quant", {"softmaxLse"}),
      Refused("channels with left padding",
              [](auto& p) {
                Scale(View(kSingle, {4, 128}))(p);
                LengthsOf(p).key_value = {5, 5};
                p.padding = LeftPadding{.query_size = {}, .kv_size = View(DataType::kInt64, {1})};
              },
              "quantScale2", "post_quant", {"kvPaddingSize"}),
      Accepted("a scale with lse",
               [](auto& p) {
                 p.softmax_lse = View(kSingle, {2, 4, 4, 1});
               }),
      Refused("an offset alone", Scale({}, View(kSingle, {1})), "quantScale2", "post_quant"),
  };
  for (const TensorView& view : {View(kSingle, {512}), View(kSingle, {4, 128}), View(kSingle, {1, 4, 1, 128}),
                                 View(kSingle, {2, 256})}) {
    rows.push_back(Accepted("channels", Scale(view, view)));
  }
  CheckRows(Int8OutputCall(), rows);
  CheckRows(Int8OutputCall({.dtype = kBfloat}), {Accepted("bfloat16", Scale(View(kBfloat, {512})))});
  CheckRows(Int8OutputCall({.layout = "BSND_BNSD"}),
            {Accepted("(N,D)", Scale(View(kSingle, {4, 128}))),
             Refused("another shape", Scale(View(kSingle, {512})), "quantScale2", "post_quant")});
  CheckRows(Int8OutputCall({.dim = 48, .value_dim = 48, .queries = 1}),
            {Strict("channels of 48", Scale(View(kSingle, {4, 48})), "quantScale2", "post_quant", {"32"})});
  CheckRows(Plain(), {Refused("an offset alone", Scale({}, View(kSingle, {1})), "quantOffset2", "pairs",
                              {"quantScale2"})});
}

Change Banded(std::int64_t mode, std::int64_t pre, std::int64_t next, bool offset) {
  return [=](AttentionParams& p) {
    if (offset) Output8(p).offset = View(kSingle, {1});
    const TensorView mask = mode == 0 ? View(kBool, {4, 16}) : View(kBool, {2048, 2048});
    p.mask = Mask{.tensor = mask, .sparse_mode = mode, .pre_tokens = pre, .next_tokens = next};
  };
}

TEST(PostQuant, RowsWithoutKeys) {
  const auto lengths = [](Change change, std::vector<std::int64_t> query, std::vector<std::int64_t> kv) {
    return [=](AttentionParams& p) {
      change(p);
      p.lengths = SequenceLengths{.query = query, .key_value = kv};
    };
  };
  const auto wrong = [](const char* name, Change change, const char* parameter) {
    return Refused(name, std::move(change), parameter, "post_quant", {"quantScale2"});
  };
  CheckRows(
      Int8OutputCall(),  // Q_S 4, KV_S 16
      {
          wrong("mode 4, nextTokens", Banded(4, 5, -1, false), "nextTokens"),
          wrong("mode 4, preTokens", Banded(4, -1, 5, false), "preTokens"),
          Accepted("mode 0, nextTokens without offset", Banded(0, 5, -1, false)),
          wrong("mode 0, nextTokens", Banded(0, 5, -1, true), "nextTokens"),
          Accepted("mode 0", Banded(0, 0, 0, true)),
          Accepted("mode 0, rows past the keys", lengths(Banded(0, 2, 0, true), {4}, {2, 2})),
          wrong("mode 0, rows past the keys", lengths(Banded(0, 1, 0, true), {4}, {16, 2}), "preTokens"),
          Accepted("the same without offset", lengths(Banded(0, 1, 0, false), {4}, {16, 2})),
          Accepted("mode 3", lengths(Banded(3, 0, 0, true), {4, 3}, {4, 3})),
          wrong("mode 3", lengths(Banded(3, 0, 0, true), {4, 4}, {4, 3}), "sparseMode"),
          Accepted("mode 3 without offset", lengths(Banded(3, 0, 0, false), {4, 4}, {4, 3})),
          Accepted("mode 4", lengths(Banded(4, 0, 1, true), {4, 4}, {4, 3})),
          wrong("mode 4", lengths(Banded(4, 0, 0, true), {4, 4}, {4, 3}), "nextTokens"),
      });
  AttentionParams prefix = Int8OutputCall();
  AddPrefix(&prefix, {}, 8);
  CheckRows(prefix, {Accepted("the prefix counts", lengths(Banded(3, 0, 0, true), {4, 4}, {4, 0}))});
  CheckRows(
      Int8OutputCall({.queries = 1}), {Accepted("decode calls", [](auto& p) {
        Output8(p).offset = View(kSingle, {1});
        p.mask = Mask{.tensor = View(kBool, {2, 16}), .sparse_mode = 4, .pre_tokens = -7, .next_tokens = -7};
        LengthsOf(p).key_value = {0, 0};
      })});
}

// int8 multi-head latent attention: B 2, N 4, Nk 1, D 512.
AttentionParams MlaCall(const char* layout, std::int64_t queries) {
  const Sizes sizes{
      .layout = layout, .kv_heads = 1, .dim = 512, .value_dim = 512, .queries = queries, .dtype = kBfloat};
  AttentionParams params = Paged(sizes, 5);
  params.query.dtype = kByte;
  params.key[0] = params.value[0] = CacheView(5, kByte, 4, 128, 1, 512);
  const AttentionParams unpaged = [&sizes] {
    AttentionParams other = Plain(sizes);
    AddRope(&other, sizes);
    return other;
  }();
  params.rope = Rope{.query = unpaged.rope->query, .key = CacheView(5, kBfloat, 4, 128, 1, 64)};
  const bool packed = layout[0] == 'T';
  Mla8(params) = {.query_scale = packed ? View(kSingle, {3 * queries, 4}) : View(kSingle, {2, queries, 4}),
                  .query_mode = 3};
  Antiquant(params).key_scale = Antiquant(params).value_scale = View(kSingle, {1});
  if (queries > 1) MaskOf(params) = Mask{.tensor = View(kBool, {2048, 2048}), .sparse_mode = 3};
  return params;
}

TEST(MlaQuant, Arguments) {
  for (const char* layout : {"BSH", "BSND", "TND", "BSH_NBSD", "BSND_NBSD", "TND_NTD"}) {
    for (const std::int64_t queries : {1, 4}) {
      SCOPED_TRACE(layout);
      SCOPED_TRACE(queries);
      const auto wrong = [](const char* name, Change change, const char* parameter) {
        return Refused(name, std::move(change), parameter, "mla_quant");
      };
      CheckRows(
          MlaCall(layout, queries),
          {
              wrong(
                  "query's scale", [](auto& p) { Mla8(p).query_scale = View(kSingle, {4}); },
                  "dequantScaleQuery"),
              wrong(
                  "key's scale",
                  [](auto& p) {
                    Antiquant(p).key_scale = View(kSingle, {1, 1});
                  },
                  "keyAntiquantScale"),
              wrong(
                  "value's scale", [](auto& p) { Antiquant(p).value_scale = View(kSingle, {512}); },
                  "valueAntiquantScale"),
              wrong(
                  "key's scale dtype", [](auto& p) { Antiquant(p).key_scale = View(kBfloat, {1}); },
                  "keyAntiquantScale"),
              wrong(
                  "no key scale", [](auto& p) { Antiquant(p).key_scale = {}; }, "keyAntiquantScale"),
              wrong(
                  "no value scale", [](auto& p) { Antiquant(p).value_scale = {}; }, "valueAntiquantScale"),
              wrong(
                  "offset", [](auto& p) { Antiquant(p).key_offset = View(kSingle, {1}); },
                  "keyAntiquantOffset"),
              wrong(
                  "key mode", [](auto& p) { Antiquant(p).key_mode = 1; }, "keyAntiquantMode"),
              wrong(
                  "value mode", [](auto& p) { Antiquant(p).value_mode = 1; }, "valueAntiquantMode"),
              Refused(
                  "query's mode", [](auto& p) { Mla8(p).query_mode = 0; }, "queryQuantMode", "pairs"),
              Refused(
                  "query's mode", [](auto& p) { Mla8(p).query_mode = 4; }, "queryQuantMode", "pairs"),
              Refused(
                  "no query scale", [](auto& p) { Mla8(p).query_scale = {}; }, "dequantScaleQuery", "pairs"),
              Refused(
                  "half output", [](auto& p) { p.attention_out.dtype = kHalf; }, "attentionOut", "dtype"),
              Refused(
                  "half rope", [](auto& p) { p.rope->query.dtype = kHalf; }, "queryRope", "dtype"),
              Refused(
                  "deqScale1", [](auto& p) { Flow8(p).deq_scale1 = View(kSingle, {1}); }, "deqScale1",
                  "pairs"),
              wrong(
                  "4 axes",
                  [](auto& p) {
                    p.key[0] = p.value[0] = CacheView(4, kByte, 4, 128, 1, 512);
                    p.rope->key = CacheView(4, kBfloat, 4, 128, 1, 64);
                  },
                  "key"),
              Strict(
                  "blocks of 256",
                  [](auto& p) {
                    p.paged->block_size = 256;
                    p.key[0] = p.value[0] = CacheView(5, kByte, 4, 256, 1, 512);
                    p.rope->key = CacheView(5, kBfloat, 4, 256, 1, 64);
                  },
                  "blockSize", "mla_quant"),
              Accepted("combined scales are not looked at",
                       [](auto& p) { Antiquant(p).scale = View(kBool, {7}); }),
          });
    }
  }
  CheckRows(MlaCall("BSND", 4), {Accepted("lse", [](auto& p) {
              p.softmax_lse = View(kSingle, {2, 4, 4, 1});
            })});
  const Change sink = [](AttentionParams& p) { p.scores.learnable_sink = View(kBfloat, {4}); };
  CheckRelaxedRows(MlaCall("BSND", 4), {Refused("sink", sink, "learnableSink", "exclusive")});
}

TEST(MlaQuant, MasksLayoutsAndGroups) {
  const Change none = [](AttentionParams& p) { p.mask.reset(); };
  const Change causal = [](AttentionParams& p) {
    MaskOf(p) = Mask{.tensor = View(kBool, {2048, 2048}), .sparse_mode = 3};
  };
  const auto wrong = [](const char* name, Change change) {
    return Refused(name, std::move(change), "sparseMode", "mla_quant");
  };
  CheckRows(MlaCall("BSND", 1), {wrong("mode 3", causal)});
  CheckRows(MlaCall("BSND", 4), {wrong("none", none)});
  CheckRows(MlaCall("TND", 1), {Accepted("mode 3", causal)});
  CheckRows(MlaCall("TND", 4), {Accepted("none", none)});
  CheckRows(MlaCall("BSND", 16), {});
  EXPECT_EQ(RulesSay(MlaCall("BSND", 17), Check::kStrict).rule, "mla_quant");
  CheckRelaxedRows(MlaCall("BSND", 17), {});
  EXPECT_EQ(RulesSay(MlaCall("BNSD", 4), Check::kRelaxed).parameter, "inputLayout");
  CheckRelaxedRows(MlaCall("BSND", 1), {Refused("another head dim",
                                                [](auto& p) {
                                                  for (TensorView* view : {&p.query, &p.attention_out})
                                                    SetDim(view, 3, 128);
                                                  p.key[0] = p.value[0] = CacheView(5, kByte, 4, 128, 1, 128);
                                                },
                                                "query", "mla_quant", {"512"})});
  const auto grouped = [](std::int64_t heads) {
    AttentionParams params = MlaCall("BSND", 1);
    params.heads.num_heads = heads;
    for (TensorView* view : {&params.query, &params.attention_out, &params.rope->query})
      SetDim(view, 2, heads);
    SetDim(&Mla8(params).query_scale, 2, heads);
    return params;
  };
  CheckRows(grouped(128), {});
  for (const std::int64_t heads : {3, 256}) {
    EXPECT_EQ(RulesSay(grouped(heads), Check::kStrict).rule, "heads");
    EXPECT_EQ(RulesSay(grouped(heads), Check::kStrict).parameter, "numHeads");
    CheckRelaxedRows(grouped(heads), {});
  }
}

}  // namespace
}  // namespace fia::testing
