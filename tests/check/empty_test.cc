// Empty tensors: calls with nothing to compute, what counts as absent, what is refused.
#include <gtest/gtest.h>

#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {
namespace {

Row WrongType(const char* name, Change change, const char* parameter) {
  return RefusedAs(StatusCode::kInvalidParameter, name, std::move(change), parameter, "dtype");
}

TEST(Empty, EmptyTensors) {
  const auto nothing_to_write = [](AttentionParams& p) {
    SetDim(&p.query, 2, 0);
    SetDim(&p.attention_out, 2, 0);
  };
  const auto no_keys = [](AttentionParams& p) {
    SetDim(&p.key[0], 2, 0);
    SetDim(&p.value[0], 2, 0);
  };
  CheckRows(
      Plain(),
      {
          Accepted("query and output", nothing_to_write),
          Accepted("query and output, nothing else looked at",
                   [=](auto& p) {
                     nothing_to_write(p);
                     p.heads.layout = "none";
                     p.heads.num_heads = -7;
                     p.key[0] = View(DataType::kUint16, {-3, 5});
                     MaskOf(p).sparse_mode = 77;
                   }),
          Accepted("keys and values", no_keys),
          Accepted("keys and values, nothing else looked at",
                   [=](auto& p) {
                     no_keys(p);
                     p.heads.num_heads = 3;
                     p.query.dtype = DataType::kUint32;
                     p.scores.pse_shift = View(kBool, {5});
                   }),
          Accepted("all members",
                   [](auto& p) {
                     p.key.assign(3, View(kHalf, {1, 2, 0, 128}));
                     p.value.assign(3, View(kHalf, {1, 2, 0, 128}));
                   }),
          WrongType(
              "output's dtype is looked at",
              [=](auto& p) {
                no_keys(p);
                p.attention_out.dtype = DataType::kInt64;
              },
              "attentionOut"),
          Refused(
              "output's dims are looked at",
              [=](auto& p) {
                no_keys(p);
                p.attention_out.dims[1] = -2;
              },
              "attentionOut", "dims"),
          Refused(
              "output's strides are looked at",
              [=](auto& p) {
                no_keys(p);
                p.attention_out.strides[3] = 0;
              },
              "attentionOut", "strides"),
          Refused(
              "asked-for lse is null",
              [=](auto& p) {
                no_keys(p);
                p.softmax_lse.emplace();
              },
              "softmaxLse", "lse"),
          Refused(
              "asked-for lse is not float32",
              [=](auto& p) {
                nothing_to_write(p);
                p.softmax_lse = View(kHalf, {2, 4, 0, 1});
              },
              "softmaxLse", "lse"),
          Accepted("asked-for lse of any shape",
                   [=](auto& p) {
                     nothing_to_write(p);
                     p.softmax_lse = View(kSingle, {3});
                   }),
          Refused("query alone", [](auto& p) { SetDim(&p.query, 2, 0); }, "query", "empty", {"attentionOut"}),
          Refused("output alone", [](auto& p) { SetDim(&p.attention_out, 2, 0); }, "attentionOut", "empty",
                  {"query"}),
          Refused(
              "key alone", [](auto& p) { SetDim(&p.key[0], 2, 0); }, "key", "empty"),
          Refused(
              "value alone", [](auto& p) { SetDim(&p.value[0], 2, 0); }, "value", "empty"),
          Accepted("mask and pseShift count as absent",
                   [](auto& p) {
                     MaskOf(p).tensor = View(kBool, {0});
                     p.scores.pse_shift = View(kHalf, {2, 0});
                   }),
          Refused("an empty mask is no mask",
                  [](auto& p) {
                    MaskOf(p).tensor = View(kBool, {0});
                    p.mask->sparse_mode = 3;
                  },
                  "attenMask", "mask", {"sparseMode"}),
          WrongType(
              "an empty mask has a dtype", [](auto& p) { MaskOf(p).tensor = View(kHalf, {0}); }, "attenMask"),
          Accepted("a prefix without positions", [](auto& p) { AddPrefix(&p, {}, 0); }),
          Accepted("keys are all in the prefix",
                   [=](auto& p) {
                     no_keys(p);
                     AddPrefix(&p, {}, 3);
                   }),
          Refused(
              "sink", [](auto& p) { p.scores.learnable_sink = View(kHalf, {0}); }, "learnableSink", "empty"),
          Refused(
              "rope",
              [](auto& p) {
                AddRope(&p, {});
                SetDim(&p.rope->query, 2, 0);
              },
              "queryRope", "empty"),
      });
  // Known public inputs: no query rows at all.
  CheckRows(Plain({.batch = 7, .heads = 9, .kv_heads = 9, .queries = 0}), {});
  CheckRows(Plain({.batch = 0, .heads = 10, .kv_heads = 10, .queries = 3952}), {});
}

TEST(Empty, NothingToComputeIsTold) {
  AttentionParams params = Plain();
  SetDim(&params.key[0], 2, 0);
  SetDim(&params.value[0], 2, 0);
  EXPECT_TRUE(RulesSay(params, Check::kStrict).ok());
  AddPrefix(&params, {}, 3);
  params.heads.num_heads = 3;  // looked at again: there is something to compute
  EXPECT_EQ(RulesSay(params, Check::kStrict).rule, "heads");
}

}  // namespace
}  // namespace fia::testing
