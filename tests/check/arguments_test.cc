// Rules on single arguments: null, dims, strides; and the order in which faults are told.
#include <gtest/gtest.h>

#include <limits>

#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 62;
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

Row Null(const char* name, Change change, const char* parameter) {
  return RefusedAs(StatusCode::kNullPointer, name, std::move(change), parameter, "null");
}

TEST(Arguments, RequiredOnesAreThere) {
  CheckRows(Plain(),
            {
                Null(
                    "query", [](auto& p) { p.query = {}; }, "query"),
                Null(
                    "key", [](auto& p) { p.key.clear(); }, "key"),
                Null(
                    "value", [](auto& p) { p.value.clear(); }, "value"),
                Null(
                    "attentionOut", [](auto& p) { p.attention_out = {}; }, "attentionOut"),
                Null(
                    "key member", [](auto& p) { p.key.push_back({}); }, "key"),
                Null(
                    "value member", [](auto& p) { p.value.insert(p.value.begin(), TensorView{}); }, "value"),
                Null(
                    "before an empty query",
                    [](auto& p) {
                      SetDim(&p.query, 2, 0);
                      SetDim(&p.attention_out, 2, 0);
                      p.key.clear();
                    },
                    "key"),
            });
}

TEST(Arguments, DimsAreSizes) {
  CheckRows(Plain(),
            {
                Refused(
                    "negative", [](auto& p) { p.query.dims[0] = -1; }, "query", "dims"),
                Refused(
                    "lowest", [](auto& p) { p.key[0].dims[3] = kLowest; }, "key", "dims"),
                Refused(
                    "overflow", [](auto& p) { p.key[0].dims[0] = p.key[0].dims[1] = kHuge; }, "key", "dims"),
                Refused(
                    "overflow in bytes", [](auto& p) { p.value[0] = View(kHalf, {kHuge}); }, "value", "dims"),
                Refused(
                    "overflow beside a 0",
                    [](auto& p) {
                      MaskOf(p).tensor = View(kBool, {kHuge, kHuge, 1});
                    },
                    "attenMask", "dims"),
                Refused(
                    "rank 9", [](auto& p) { p.attention_out.rank = 9; }, "attentionOut", "dims"),
                Refused(
                    "rank of a mask",
                    [](auto& p) {
                      MaskOf(p).tensor = View(kBool, {4, 16});
                      p.mask->tensor.rank = 1000;
                    },
                    "attenMask", "dims"),
                Refused("negative member",
                        [](auto& p) {
                          MakeList(&p, {});
                          p.key[1].dims[2] = -5;
                        },
                        "key", "dims", {"member 1 of 2"}),
                Refused(
                    "asked-for lse",
                    [](auto& p) {
                      p.softmax_lse = View(kSingle, {2, 4, -4, 1});
                    },
                    "softmaxLse", "dims"),
            });
}

TEST(Arguments, StridesAreCheckedForInputs) {
  CheckRows(Plain(),
            {
                Refused(
                    "negative", [](auto& p) { p.query.strides[2] = -128; }, "query", "strides"),
                Refused(
                    "negative on an axis of 1",
                    [](auto& p) {
                      p.scores.pse_shift = View(kHalf, {1, 4, 4, 16});
                      p.scores.pse_shift.strides[0] = -1;
                    },
                    "pseShift", "strides"),
                Refused(
                    "span overflows", [](auto& p) { p.key[0].strides[0] = kHuge; }, "key", "strides"),
                Refused(
                    "span overflows by the sum",
                    [](auto& p) { p.key[0].strides[0] = p.key[0].strides[1] = kHuge / 8; }, "key", "strides"),
                Accepted("stride 0 of inputs",
                         [](auto& p) {
                           p.query.strides[0] = 0;
                           p.key[0].strides[0] = p.value[0].strides[1] = 0;
                         }),
                Accepted("any order of axes",
                         [](auto& p) {
                           p.value[0].strides[3] = 2 * 4 * 16;
                           p.value[0].strides[0] = 1;
                         }),
            });
}

void SetStrides(TensorView& view, std::initializer_list<std::int64_t> strides) {
  int axis = 0;
  for (const std::int64_t stride : strides) view.strides[axis++] = stride;
}

TEST(Arguments, OutputsDoNotOverlapThemselves) {
  CheckRows(Plain(),  // out (2,4,4,128)
            {
                Refused(
                    "stride 0", [](auto& p) { p.attention_out.strides[1] = 0; }, "attentionOut", "strides"),
                Refused(
                    "rows one element short", [](auto& p) { p.attention_out.strides[2] = 127; },
                    "attentionOut", "strides"),
                Refused(
                    "two axes alike",
                    [](auto& p) {
                      SetStrides(p.attention_out, {2048, 512, 512, 1});
                    },
                    "attentionOut", "strides"),
                Refused(
                    "meets by a sum",
                    [](auto& p) {
                      SetStrides(p.attention_out, {512, 128, 256, 1});
                    },
                    "attentionOut", "strides"),
                Accepted("transposed",
                         [](auto& p) {
                           SetStrides(p.attention_out, {4 * 4 * 128, 128, 512, 1});
                         }),
                Accepted("with gaps",
                         [](auto& p) {
                           SetStrides(p.attention_out, {9000, 1000, 130, 1});
                         }),
                Accepted("dim outermost",
                         [](auto& p) {
                           SetStrides(p.attention_out, {16, 4, 1, 32});
                         }),
                Accepted("interleaved",
                         [](auto& p) {
                           SetStrides(p.attention_out, {1, 1024, 256, 2});
                         }),
                Accepted("not nested, yet apart",  // sums of 0..3 times 5 and 0..3 times 7 differ
                         [](auto& p) {
                           SetStrides(p.attention_out, {1 << 20, 5 * 128, 7 * 128, 1});
                         }),
                Refused(
                    "not nested, and meeting",  // 3 * 4 == 2 * 6
                    [](auto& p) {
                      SetStrides(p.attention_out, {1 << 20, 4 * 128, 6 * 128, 1});
                    },
                    "attentionOut", "strides"),
                Refused(
                    "lse",
                    [](auto& p) {
                      p.softmax_lse = View(kSingle, {2, 4, 4, 1});
                      p.softmax_lse->strides[0] = 4;
                    },
                    "softmaxLse", "strides"),
            });
}

TEST(Arguments, TheEarlierFaultIsTold) {
  const auto first_rule = [](const Change& change) {
    AttentionParams params = Plain();
    change(params);
    return RulesSay(params, Check::kStrict).rule;
  };
  EXPECT_EQ(first_rule([](auto& p) {
              p.key.clear();
              p.query.dims[0] = -1;
            }),
            "null");
  EXPECT_EQ(first_rule([](auto& p) {
              p.query.strides[0] = -1;
              p.value[0].dims[0] = -1;
            }),
            "dims");
  EXPECT_EQ(first_rule([](auto& p) {
              p.query.strides[0] = -1;
              SetDim(&p.value[0], 0, 0);
            }),
            "strides");
  EXPECT_EQ(first_rule([](auto& p) {
              p.query.dtype = kBool;
              SetDim(&p.value[0], 0, 0);
            }),
            "empty");
  EXPECT_EQ(first_rule([](auto& p) {
              p.query.format = static_cast<Format>(3);
              p.value[0].dtype = kBool;
            }),
            "dtype");
  EXPECT_EQ(first_rule([](auto& p) {
              p.query.format = static_cast<Format>(3);
              p.heads.layout = "";
            }),
            "format");
}

}  // namespace
}  // namespace fia::testing
