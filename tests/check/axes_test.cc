// The rules layout, heads, shape and head_dim.
#include <gtest/gtest.h>

#include <limits>

#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 62;
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

TEST(Layout, EveryNameIsAccepted) {
  for (const char* layout :
       {"BSH", "BSND", "BNSD", "BSH_BNSD", "BSND_BNSD", "BNSD_BSND", "TND", "NTD", "NTD_TND"}) {
    SCOPED_TRACE(layout);
    CheckRows(Plain({.layout = layout}), {});
  }
  for (const char* layout : {"BSH_NBSD", "BSND_NBSD", "BNSD_NBSD", "TND_NTD"}) {
    SCOPED_TRACE(layout);
    const Sizes sizes{.layout = layout, .kv_heads = 1, .dim = 512, .value_dim = 512};
    AttentionParams params = Plain(sizes);
    AddRope(&params, sizes);
    CheckRows(params, {Strict("without rope", [](auto& p) { p.rope.reset(); }, "inputLayout", "layout",
                              {layout, "512"})});
    CheckRelaxedRows(Plain({.layout = layout}), {});
    EXPECT_EQ(RulesSay(Plain({.layout = layout}), Check::kStrict).rule, "layout");
  }
}

TEST(Layout, OtherNamesAreRefused) {
  const auto name = [](std::string layout) { return [layout](auto& p) { p.heads.layout = layout; }; };
  CheckRows(Plain(), {
                         Refused("unknown", name("BNDS"), "inputLayout", "layout", {"\"BNDS\"", "BNSD_BSND"}),
                         Refused("empty", name(""), "inputLayout", "layout"),
                         Refused("lower case", name("bnsd"), "inputLayout", "layout"),
                         Refused("part of a name", name("BSND_"), "inputLayout", "layout"),
                         Refused("more than a name", name("BNSD "), "inputLayout", "layout"),
                         Refused("two lines", name("BNSD\nBSH"), "inputLayout", "layout", {"BNSD?BSH"}),
                         Refused("very long", name(std::string(1 << 20, 'x')), "inputLayout", "layout"),
                     });
  EXPECT_LT(RulesSay(
                [] {
                  AttentionParams params = Plain();
                  params.heads.layout.assign(1 << 20, 'x');
                  return params;
                }(),
                Check::kStrict)
                .message.size(),
            400u);
}

TEST(Heads, MatchTheTensors) {
  const auto heads = [](std::int64_t n, std::int64_t kv) {
    return [n, kv](auto& p) {
      p.heads.num_heads = n;
      p.heads.num_kv_heads = kv;
    };
  };
  const std::vector<Row> rows = {
      Refused("0", heads(0, 2), "numHeads", "heads", {"at least 1"}),
      Refused("negative", heads(-4, 2), "numHeads", "heads"),
      Refused("lowest", heads(kLowest, kLowest), "numHeads", "heads"),
      Refused("kv negative", heads(4, -1), "numKeyValueHeads", "heads"),
      Refused("kv lowest", heads(4, kLowest), "numKeyValueHeads", "heads"),
      Refused("kv does not divide", heads(4, 3), "numKeyValueHeads", "heads", {"numHeads = 4"}),
      Refused("kv larger", heads(4, 8), "numKeyValueHeads", "heads"),
      Refused("huge", heads(kHuge, 2), "numHeads", "heads", {"query"}),
      Refused("both huge", heads(kHuge, kHuge), "numHeads", "heads", {"query"}),
  };
  for (const char* layout : {"BNSD", "BSND", "BSH", "TND", "NTD"}) {
    SCOPED_TRACE(layout);
    CheckRows(Plain({.layout = layout}), rows);
  }
  CheckRows(Plain(), {
                         Refused("not the query's", heads(8, 2), "numHeads", "heads", {"query", "axis", "4"}),
                         Refused("not the key's", heads(4, 1), "numKeyValueHeads", "heads", {"key", "2"}),
                         Refused("0 stands for numHeads", heads(4, 0), "numKeyValueHeads", "heads"),
                     });
  CheckRows(Plain({.kv_heads = 4}), {Accepted("0 stands for numHeads", heads(4, 0))});
  // BSH tells H alone: another number of heads may be another D.
  CheckRows(
      Plain({.layout = "BSH"}),
      {Refused("does not divide H", heads(3, 1), "numHeads", "heads", {"512"}),
       Refused("D of query and key differ", heads(4, 1), "key", "shape", {"numKeyValueHeads = 1", "query"}),
       Accepted("others that fit", heads(8, 4))});
}

TEST(Heads, QueryOfFiveHeadsIsNotOfTwenty) {
  AttentionParams params = Plain();
  params.query = params.attention_out = View(kHalf, {1, 5, 64, 128});
  params.heads = {.layout = "BNSD", .num_heads = 20, .num_kv_heads = 20};
  const Status status = RulesSay(params, Check::kStrict);
  EXPECT_EQ(status.code, StatusCode::kTilingError);
  EXPECT_EQ(status.parameter, "numHeads");
  EXPECT_NE(status.message.find("(1,5,64,128)"), std::string::npos) << status.message;
  EXPECT_NE(status.message.find("20"), std::string::npos) << status.message;
}

TEST(Heads, StrictLimit) {
  CheckRows(Plain({.heads = 256}), {});
  AttentionParams params = Plain({.heads = 257, .kv_heads = 1});
  EXPECT_EQ(RulesSay(params, Check::kStrict).rule, "heads");
  EXPECT_EQ(RulesSay(params, Check::kStrict).parameter, "numHeads");
  CheckRelaxedRows(params, {});
}

TEST(Shape, OfQueryKeyValueAndOutput) {
  CheckRows(
      Plain(),  // (2,4,4,128), (2,2,16,128)
      {
          Refused("query's rank",
                  [](auto& p) {
                    p.query = View(kHalf, {2, 4, 512});
                  },
                  "query", "shape", {"BNSD"}),
          Refused(
              "query without axes", [](auto& p) { p.query = View(kHalf, {}); }, "query", "shape"),
          Refused(
              "key's rank",
              [](auto& p) {
                p.key[0] = View(kHalf, {2, 16, 256});
              },
              "key", "shape"),
          Refused(
              "value's rank",
              [](auto& p) {
                p.value[0] = View(kHalf, {2, 16, 256});
              },
              "value", "shape"),
          Refused(
              "output's rank",
              [](auto& p) {
                p.attention_out = View(kHalf, {2, 4, 512});
              },
              "attentionOut", "shape"),
          Refused("key's batch", [](auto& p) { SetDim(&p.key[0], 0, 1); }, "key", "shape", {"query"}),
          Refused("value's batch", [](auto& p) { SetDim(&p.value[0], 0, 3); }, "value", "shape", {"key"}),
          Refused("output's batch", [](auto& p) { SetDim(&p.attention_out, 0, 1); }, "attentionOut", "shape",
                  {"query"}),
          Refused(
              "output's heads", [](auto& p) { SetDim(&p.attention_out, 1, 2); }, "attentionOut", "shape"),
          Refused(
              "output's S", [](auto& p) { SetDim(&p.attention_out, 2, 5); }, "attentionOut", "shape"),
          Refused("output's D is value's", [](auto& p) { SetDim(&p.attention_out, 3, 64); }, "value", "shape",
                  {"attentionOut"}),
          Refused("key's D is query's", [](auto& p) { SetDim(&p.key[0], 3, 64); }, "key", "shape", {"query"}),
          Refused(
              "value's heads", [](auto& p) { SetDim(&p.value[0], 1, 4); }, "value", "shape"),
          Refused("key S 5, value S 6",
                  [](auto& p) {
                    SetDim(&p.key[0], 2, 5);
                    SetDim(&p.value[0], 2, 6);
                  },
                  "value", "shape", {"key", "(2,2,5,128)", "(2,2,6,128)"}),
          Refused(
              "value S 4000000", [](auto& p) { SetDim(&p.value[0], 2, 4000000); }, "value", "shape"),
          Accepted("a batch stride of 0", [](auto& p) { p.key[0].strides[0] = p.value[0].strides[0] = 0; }),
      });
  CheckRows(Plain({.layout = "BSH"}),
            {Refused(
                 "output's H", [](auto& p) { SetDim(&p.attention_out, 2, 511); }, "attentionOut", "shape"),
             Refused("key's H", [](auto& p) { SetDim(&p.key[0], 2, 254); }, "key", "shape", {"query"}),
             Refused(
                 "value's H", [](auto& p) { SetDim(&p.value[0], 2, 128); }, "value", "shape")});
  CheckRows(Plain({.layout = "BNSD_BSND"}),
            {Refused("output in the query's form",
                     [](auto& p) { p.attention_out = FormView("BNSD", kHalf, 2, 5, 4, 128); }, "attentionOut",
                     "shape", {"(B,S,N,D)"})});
  CheckRows(Plain({.layout = "NTD_TND"}),  // query (4,12,128)
            {Refused(
                 "output in the query's form",
                 [](auto& p) {
                   p.attention_out = View(kHalf, {4, 12, 128});
                 },
                 "attentionOut", "shape"),
             Refused(
                 "value's T", [](auto& p) { SetDim(&p.value[0], 1, 47); }, "value", "shape")});
}

TEST(Shape, StrictLimits) {
  const auto strict_only = [](const Sizes& sizes, const char* parameter) {
    const Status status = RulesSay(Plain(sizes), Check::kStrict);
    EXPECT_EQ(status.rule, "shape") << status.message;
    EXPECT_EQ(status.parameter, parameter) << status.message;
    CheckRelaxedRows(Plain(sizes), {});
  };
  CheckRows(Plain({.batch = 65536, .queries = 1}), {});
  strict_only({.batch = 65537, .queries = 1}, "query");
  CheckRows(Plain({.queries = 1, .keys = 20971520}), {});
  strict_only({.queries = 1, .keys = 20971521}, "key");
  strict_only({.queries = 20971521}, "query");
  CheckRows(Plain({.dim = 512, .value_dim = 512}), {});
  strict_only({.dim = 528, .value_dim = 528}, "query");
  CheckRows(Plain({.dim = 192, .value_dim = 128}), {});
  strict_only({.dim = 128, .value_dim = 64}, "value");
  strict_only({.dim = 192, .value_dim = 64}, "value");
  strict_only({.dim = 128, .value_dim = 192}, "value");
}

TEST(Shape, NoPlanHoldsAnyNumberOfSequences) {
  AttentionParams params = Plain({.batch = std::int64_t{1} << 40, .queries = 1});
  params.execution.check = Check::kRelaxed;
  const Status status = RulesSay(params, Check::kRelaxed);
  EXPECT_EQ(status.code, StatusCode::kTilingError);
  EXPECT_EQ(status.rule, "memory");
  EXPECT_EQ(status.parameter, "query");
}

TEST(HeadDim, StrictForSeveralQueryPositions) {
  const auto strict_only = [](const Sizes& sizes, const char* parameter) {
    const Status status = RulesSay(Plain(sizes), Check::kStrict);
    EXPECT_EQ(status.rule, "head_dim") << status.message;
    EXPECT_EQ(status.parameter, parameter) << status.message;
    CheckRelaxedRows(Plain(sizes), {});
  };
  CheckRows(Plain({.dim = 48, .value_dim = 48}), {});
  strict_only({.dim = 40, .value_dim = 40}, "query");
  CheckRows(Plain({.dim = 40, .value_dim = 40, .queries = 1}), {});
  for (const char* layout : {"BSH_BNSD", "BSND_BNSD"}) {
    CheckRows(Plain({.layout = layout, .dim = 64, .value_dim = 64}), {});
    CheckRows(Plain({.layout = layout, .dim = 192}), {});
    strict_only({.layout = layout, .dim = 96, .value_dim = 96}, "query");
    strict_only({.layout = layout, .dim = 512, .value_dim = 512}, "query");
  }
  CheckRows(Plain({.layout = "TND", .dim = 96, .value_dim = 96}),
            {Strict("high performance", [](auto& p) { p.scores.inner_precise = 1; }, "query", "head_dim",
                    {"inputLayout", "innerPrecise"})});
  CheckRows(Plain({.layout = "TND", .dim = 256, .value_dim = 256}), {});
  CheckRows(Plain({.layout = "TND", .dim = 192}), {});
  strict_only({.layout = "TND", .dim = 257, .value_dim = 257}, "query");
  CheckRows(Plain({.layout = "NTD", .dim = 64, .value_dim = 64}), {});
  strict_only({.layout = "NTD", .dim = 96, .value_dim = 96}, "query");
  strict_only({.layout = "NTD_TND", .dim = 512, .value_dim = 512}, "query");
}

TEST(HeadDim, StrictWithInt8) {
  AttentionParams params = Plain({.dim = 96, .value_dim = 96});
  params.attention_out.dtype = kByte;
  Output8(params).scale = View(kSingle, {1});
  CheckRows(params, {});
  params = Plain({.dim = 80, .value_dim = 80});
  params.attention_out.dtype = kByte;
  Output8(params).scale = View(kSingle, {1});
  EXPECT_EQ(RulesSay(params, Check::kStrict).rule, "head_dim");
  CheckRelaxedRows(params, {});
}

TEST(HeadDim, OfCachesAndRope) {
  CheckRelaxedRows(Paged({.dim = 48, .value_dim = 48}, 5), {});
  AttentionParams params = Paged({.dim = 40, .value_dim = 40}, 5);
  for (const Check level : {Check::kStrict, Check::kRelaxed}) {
    EXPECT_EQ(RulesSay(params, level).rule, "head_dim");
    EXPECT_EQ(RulesSay(params, level).parameter, "key");
  }
  for (const char* layout : {"BNSD", "BSH", "TND"}) {
    const Sizes sizes{.layout = layout};
    AttentionParams with_rope = Plain(sizes);
    AddRope(&with_rope, sizes);
    const auto halved = [](TensorView* view) {
      SetDim(view, view->rank - 1, view->dims[view->rank - 1] / 2);
    };
    CheckRows(with_rope, {Refused("queryRope of 32", [=](auto& p) { halved(&p.rope->query); }, "queryRope",
                                  "head_dim", {"64"}),
                          Refused("keyRope of 32", [=](auto& p) { halved(&p.rope->key); }, "keyRope",
                                  "head_dim", {"64"})});
  }
}

}  // namespace
}  // namespace fia::testing
