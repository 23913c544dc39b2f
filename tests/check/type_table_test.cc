// The rule dtype: every triple of query, key and value, and output types.
#include <gtest/gtest.h>

#include <string>

#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {
namespace {

constexpr DataType kQueries[] = {kHalf, kBfloat, kSingle, kByte};
constexpr DataType kKeys[] = {kHalf, kBfloat, kSingle, kByte, kNibble, kWord};

// Rows: query; columns: key and value. Letters: output types that go with them: f float16, b bfloat16,
// s float32 (relaxed only), i int8.
constexpr const char* kTable[4][6] = {
    // f16  bf16  f32  int8   int4 int32
    {"fi", "", "", "fi", "f", "f"},
    {"", "bi", "", "bi", "b", "b"},
    {"", "", "s", "", "", ""},
    {"", "", "", "fbi", "", ""},
};

char LetterOf(DataType dtype) {
  return dtype == kHalf ? 'f' : dtype == kBfloat ? 'b' : dtype == kSingle ? 's' : 'i';
}

AttentionParams Typed(DataType query, DataType key, DataType out) {
  AttentionParams params = Plain({.queries = 1});
  params.query.dtype = query;
  params.key[0].dtype = params.value[0].dtype = key;
  if (key == kWord) {
    SetDim(&params.key[0], 3, 16);
    SetDim(&params.value[0], 3, 16);
  }
  params.attention_out.dtype = out;
  return params;
}

TEST(TypeTable, Triples) {
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 6; ++column) {
      for (const DataType out : {kHalf, kBfloat, kSingle, kByte}) {
        const std::string letters = kTable[row][column];
        const bool listed = letters.find(LetterOf(out)) != std::string::npos;
        for (const Check level : {Check::kStrict, Check::kRelaxed}) {
          const bool fits = listed && (level == Check::kRelaxed || LetterOf(out) != 's');
          const Status status = RulesSay(Typed(kQueries[row], kKeys[column], out), level);
          SCOPED_TRACE(status.message + " row " + std::to_string(row) + " column " + std::to_string(column));
          // Later rules may want scales: what counts is that this one does not refuse.
          EXPECT_EQ(status.rule == "dtype", !fits);
          if (status.rule == "dtype") {
            EXPECT_EQ(status.code, StatusCode::kTilingError);
          }
        }
      }
    }
  }
}

TEST(TypeTable, WhoIsNamed) {
  CheckRows(Plain(),
            {
                Refused("value", [](auto& p) { p.value[0].dtype = kBfloat; }, "value", "dtype", {"key"}),
                Refused("key and value", [](auto& p) { p.key[0].dtype = p.value[0].dtype = kBfloat; }, "key",
                        "dtype", {"query"}),
                Refused("output", [](auto& p) { p.attention_out.dtype = kBfloat; }, "attentionOut", "dtype",
                        {"query", "float16 or int8", "int8"}),
            });
}

TEST(TypeTable, Float32IsRelaxed) {
  const AttentionParams params = Plain({.dtype = kSingle});
  const Status status = RulesSay(params, Check::kStrict);
  EXPECT_EQ(status.code, StatusCode::kTilingError);
  EXPECT_EQ(status.parameter, "query");
  EXPECT_EQ(status.rule, "dtype");
  CheckRelaxedRows(params, {
                               Accepted("bias and sink",
                                        [](auto& p) {
                                          p.scores.pse_shift = View(kSingle, {1, 4, 4, 16});
                                          p.scores.learnable_sink = View(kSingle, {4});
                                        }),
                               Accepted("rope", [](auto& p) { AddRope(&p, {.dtype = kSingle}); }),
                               Refused(
                                   "half bias",
                                   [](auto& p) {
                                     p.scores.pse_shift = View(kHalf, {1, 4, 4, 16});
                                   },
                                   "pseShift", "dtype"),
                           });
}

}  // namespace
}  // namespace fia::testing
