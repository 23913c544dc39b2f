// What callers do and strict checking accepts on purpose.
#include <gtest/gtest.h>

#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {
namespace {

Change Precise(std::int64_t value) {
  return [value](AttentionParams& p) { p.scores.inner_precise = value; };
}

TEST(Looser, StridedTensors) {
  CheckRows(Plain(), {Accepted("every argument a view into larger memory", [](auto& p) {
              for (TensorView* view : {&p.query, &p.key[0], &p.value[0], &p.attention_out}) {
                for (int axis = 0; axis < view->rank; ++axis)
                  view->strides[axis] = view->strides[axis] * 3 + 1;
              }
            })});
}

TEST(Looser, PackedGroupsWithAnyInnerPrecise) {
  for (const std::int64_t kv_heads : {1, 2, 4}) {
    for (const char* layout : {"TND", "NTD"}) {
      CheckRows(Plain({.layout = layout, .kv_heads = kv_heads}),
                {Accepted("1", Precise(1)), Accepted("2", Precise(2)), Accepted("3", Precise(3))});
    }
  }
}

TEST(Looser, DecodeWithInnerPrecise2And3) {
  CheckRows(Plain({.queries = 1}), {Accepted("2", Precise(2)), Accepted("3", Precise(3))});
}

TEST(Looser, Dim512WithoutTableAndWithLse) {
  for (const std::int64_t queries : {1, 4}) {
    const Sizes sizes{.kv_heads = 1, .dim = 512, .value_dim = 512, .queries = queries};
    AttentionParams params = Plain(sizes);
    AddRope(&params, sizes);
    CheckRows(params, {Accepted("lse",
                                [=](auto& p) {
                                  p.softmax_lse = View(kSingle, {2, 4, queries, 1});
                                }),
                       Accepted("lengths of queries", [](auto& p) {
                         LengthsOf(p).query = {1, 0};
                       })});
  }
}

TEST(Looser, PackedCachesOfEveryKind) {
  for (const char* layout : {"TND", "NTD", "NTD_TND"}) {
    for (const int rank : {3, 4, 5}) CheckRows(Paged({.layout = layout}, rank), {});
  }
}

TEST(Looser, FormatsOfOtherRanks) {
  AttentionParams params = Plain({.layout = "BSH"});
  params.query.format = params.key[0].format = params.attention_out.format = Format::kNcl;
  CheckRows(params, {});
  params = Plain();
  params.query.format = params.key[0].format = params.attention_out.format = Format::kNchw;
  CheckRows(params, {});
  params = Paged({}, 5);
  params.key[0].format = params.value[0].format = Format::kNcdhw;
  CheckRows(params, {});
}

}  // namespace
}  // namespace fia::testing
