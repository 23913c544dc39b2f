// The rules pse, sink, lse, rope, inner_precise and scale.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {
namespace {

Change Pse(std::initializer_list<std::int64_t> dims, DataType dtype = kHalf) {
  const TensorView view = View(dtype, dims);
  return [view](AttentionParams& p) { p.scores.pse_shift = view; };
}

Row PseRefused(const char* name, Change change, std::vector<std::string> told = {}) {
  return Refused(name, std::move(change), "pseShift", "pse", std::move(told));
}

TEST(Pse, HasAColumnForEachKey) {
  CheckRows(
      Plain({.batch = 3}),  // N 4, Q_S 4, KV_S 16
      {
          Accepted("with batch", Pse({3, 4, 4, 16})),
          Accepted("for all", Pse({1, 4, 4, 16})),
          Accepted("larger", Pse({1, 4, 7, 21})),
          Accepted("with a mask",
                   [](auto& p) {
                     Pse({1, 4, 4, 16})(p);
                     MaskOf(p) = Mask{.tensor = View(kBool, {2048, 2048}), .sparse_mode = 3};
                   }),
          Accepted("with a head stride of 0",
                   [](auto& p) {
                     Pse({1, 4, 4, 16})(p);
                     p.scores.pse_shift.strides[1] = 0;
                   }),
          PseRefused("batch", Pse({2, 4, 4, 16}), {"query's B = 3"}),
          PseRefused("heads", Pse({3, 1, 4, 16}), {"numHeads = 4"}),
          PseRefused("rows do not broadcast", Pse({3, 4, 1, 16}), {"query's Q_S = 4"}),
          PseRefused("columns", Pse({3, 4, 4, 15}), {"key's KV_S = 16"}),
          PseRefused("rank", Pse({4, 4, 16})),
          PseRefused("no axis", Pse({})),
          RefusedAs(StatusCode::kTilingError, "dtype", Pse({3, 4, 4, 16}, kBfloat), "pseShift", "dtype"),
      });
}

TEST(Pse, OfTwelveHeadsIsNotOfOne) {
  AttentionParams params = Plain({.batch = 1, .heads = 12, .kv_heads = 12, .queries = 1, .keys = 4096});
  CheckRows(params, {PseRefused("one head", Pse({1, 1, 1, 4096}), {"(1,1,1,4096)", "12"}),
                     Accepted("twelve", Pse({1, 12, 1, 4096}))});
}

TEST(Pse, CountsPrefixAndBlocks) {
  AttentionParams params = Plain();
  AddPrefix(&params, {}, 8);
  CheckRows(params,
            {Accepted("prefix and keys", Pse({1, 4, 4, 24})), PseRefused("short", Pse({1, 4, 4, 23}))});
  params = Paged({}, 4);
  LengthsOf(params).key_value = {5, 129};
  CheckRows(params,
            {Accepted("whole blocks", Pse({1, 4, 4, 256})), PseRefused("short", Pse({1, 4, 4, 255}))});
}

TEST(Pse, InTnd) {
  const Change fits = Pse({2, 4, 8, 32});  // largest S1 8, S2 32
  CheckRows(Plain({.layout = "TND"}),
            {
                Accepted("fits", fits),
                Accepted("for all", Pse({1, 4, 8, 32})),
                PseRefused("rows", Pse({2, 4, 7, 32})),
                PseRefused("columns", Pse({2, 4, 8, 31})),
                PseRefused("rank", Pse({4, 12, 48})),
                Strict("high performance",
                       [=](auto& p) {
                         fits(p);
                         p.scores.inner_precise = 1;
                       },
                       "pseShift", "pse", {"innerPrecise"}),
                Strict("mode 3",
                       [=](auto& p) {
                         fits(p);
                         MaskOf(p) = Mask{.tensor = View(kBool, {2048, 2048}), .sparse_mode = 3};
                       },
                       "pseShift", "pse", {"sparseMode"}),
            });
  AttentionParams params = Paged({.layout = "TND"}, 4);
  LengthsOf(params).key_value = {5, 129};
  CheckRows(params, {Accepted("paged: the largest S2", Pse({2, 4, 8, 129})),
                     PseRefused("short", Pse({2, 4, 8, 128}))});
  for (const char* layout : {"NTD", "NTD_TND"}) {
    CheckRows(Plain({.layout = layout}),
              {Refused("other packed layouts take none", fits, "pseShift", "exclusive", {"inputLayout"})});
  }
}

TEST(Sink, HasAnElementForEachHead) {
  const auto sink = [](std::initializer_list<std::int64_t> dims, DataType dtype = kHalf) {
    const TensorView view = View(dtype, dims);
    return [view](AttentionParams& p) { p.scores.learnable_sink = view; };
  };
  CheckRows(Plain(), {
                         Accepted("(N)", sink({4})),
                         Refused("kv heads", sink({2}), "learnableSink", "sink", {"numHeads", "4"}),
                         Refused("rank 2", sink({1, 4}), "learnableSink", "sink"),
                         Refused("dtype", sink({4}, kSingle), "learnableSink", "dtype"),
                     });
  CheckRows(Plain({.dim = 64, .value_dim = 64}), {Accepted("64", sink({4}))});
  CheckRows(Plain({.dim = 192, .value_dim = 128}), {Accepted("192/128", sink({4}))});
  CheckRows(Plain({.dim = 96, .value_dim = 96}), {Strict("96", sink({4}), "learnableSink", "sink", {"96"})});
}

TEST(Lse, IsLookedAtWhenAskedFor) {
  const auto lse = [](std::initializer_list<std::int64_t> dims, DataType dtype = kSingle) {
    const TensorView view = View(dtype, dims);
    return [view](AttentionParams& p) { p.softmax_lse = view; };
  };
  for (const char* layout : {"BSH", "BNSD", "BSND_BNSD"}) {
    CheckRows(Plain({.layout = layout}),
              {
                  Accepted("(B,N,Q_S,1)", lse({2, 4, 4, 1})),
                  Refused(
                      "null", [](auto& p) { p.softmax_lse.emplace(); }, "softmaxLse", "lse"),
                  Refused("dtype", lse({2, 4, 4, 1}, kHalf), "softmaxLse", "lse", {"float32"}),
                  Refused("heads", lse({2, 2, 4, 1}), "softmaxLse", "lse"),
                  Refused("rank", lse({2, 4, 4}), "softmaxLse", "lse"),
                  Refused("empty", lse({0}), "softmaxLse", "empty"),
              });
  }
  for (const char* layout : {"TND", "NTD"}) {
    CheckRows(Plain({.layout = layout}),
              {Accepted("(T,N,1)", lse({12, 4, 1})), Refused("(N,T,1)", lse({4, 12, 1}), "softmaxLse", "lse"),
               Refused("(T,N)", lse({12, 4}), "softmaxLse", "lse")});
  }
}

TEST(Rope, IsShapedAsQueryAndKey) {
  for (const char* layout : {"BSH", "BSND", "BNSD", "TND", "NTD"}) {
    SCOPED_TRACE(layout);
    const Sizes sizes{.layout = layout};
    AttentionParams params = Plain(sizes);
    AddRope(&params, sizes);
    const auto grown = [](TensorView* view, int axis) { SetDim(view, axis, view->dims[axis] + 1); };
    CheckRows(
        params,
        {
            Refused(
                "queryRope", [=](auto& p) { grown(&p.rope->query, 0); }, "queryRope", "rope"),
            Refused(
                "queryRope", [=](auto& p) { grown(&p.rope->query, 1); }, "queryRope", "rope"),
            Refused(
                "keyRope", [=](auto& p) { grown(&p.rope->key, 0); }, "keyRope", "rope"),
            Refused(
                "keyRope", [=](auto& p) { grown(&p.rope->key, 1); }, "keyRope", "rope"),
            Refused(
                "dtype", [](auto& p) { p.rope->query.dtype = kBfloat; }, "queryRope", "dtype"),
            Refused(
                "dtype", [](auto& p) { p.rope->key.dtype = kBfloat; }, "keyRope", "dtype"),
            Refused("no keyRope", [](auto& p) { p.rope->key = {}; }, "keyRope", "pairs", {"queryRope"}),
            Refused("no queryRope", [](auto& p) { p.rope->query = {}; }, "queryRope", "pairs", {"keyRope"}),
        });
  }
}

TEST(Rope, StrictDims) {
  const auto with_rope = [](const Sizes& sizes) {
    AttentionParams params = Plain(sizes);
    AddRope(&params, sizes);
    return params;
  };
  CheckRows(with_rope({.kv_heads = 1, .dim = 512, .value_dim = 512}), {});  // no block table needed
  const AttentionParams two = with_rope({.dim = 512, .value_dim = 512});
  EXPECT_EQ(RulesSay(two, Check::kStrict).rule, "rope");
  EXPECT_EQ(RulesSay(two, Check::kStrict).parameter, "numKeyValueHeads");
  CheckRelaxedRows(two, {});
  for (const Sizes& sizes : {Sizes{.dim = 64, .value_dim = 64}, Sizes{.dim = 192, .value_dim = 128}}) {
    EXPECT_EQ(RulesSay(with_rope(sizes), Check::kStrict).rule, "rope");
    CheckRelaxedRows(with_rope(sizes), {});
  }
}

TEST(Numbers, InnerPreciseAndScale) {
  const auto precise = [](std::int64_t value) { return [=](auto& p) { p.scores.inner_precise = value; }; };
  const auto scale = [](double value) { return [=](auto& p) { p.scores.scale = value; }; };
  constexpr double kLargest = std::numeric_limits<float>::max();
  CheckRows(Plain(),
            {
                Accepted("1", precise(1)),
                Accepted("3", precise(3)),
                Refused("4", precise(4), "innerPrecise", "inner_precise"),
                Refused("-1", precise(-1), "innerPrecise", "inner_precise"),
                Accepted("0", scale(0)),
                Accepted("negative", scale(-3.5)),
                Accepted("the largest float", scale(kLargest)),
                Accepted("rounds to it", scale(std::nextafter(0x1.ffffffp+127, 0))),
                Refused("rounds to infinity", scale(0x1.ffffffp+127), "scaleValue", "scale"),
                Refused("largest double", scale(std::numeric_limits<double>::max()), "scaleValue", "scale"),
                Refused("infinity", scale(-HUGE_VAL), "scaleValue", "scale"),
                Refused("NaN", scale(std::nan("")), "scaleValue", "scale"),
            });
  EXPECT_TRUE(std::isinf(static_cast<float>(0x1.ffffffp+127)));
}

}  // namespace
}  // namespace fia::testing
