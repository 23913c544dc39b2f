// Types and formats of single arguments.
#include <gtest/gtest.h>

#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {
namespace {

Row WrongType(const char* name, Change change, const char* parameter) {
  return RefusedAs(StatusCode::kInvalidParameter, name, std::move(change), parameter, "dtype");
}

Row WrongFormat(const char* name, Change change, const char* parameter) {
  return RefusedAs(StatusCode::kInvalidParameter, name, std::move(change), parameter, "format");
}

TEST(ArgumentTypes, DtypesThatNoCallHas) {
  const auto scale = [](TensorView KvAntiquant::*member) {
    return [member](AttentionParams& p) { Antiquant(p).*member = View(kByte, {1}); };
  };
  CheckRows(
      Plain(),
      {
          WrongType(
              "query", [](auto& p) { p.query.dtype = DataType::kFloat64; }, "query"),
          WrongType(
              "query int4", [](auto& p) { p.query.dtype = kNibble; }, "query"),
          WrongType(
              "query unknown", [](auto& p) { p.query.dtype = static_cast<DataType>(999); }, "query"),
          WrongType(
              "query undefined", [](auto& p) { p.query.dtype = DataType::kUndefined; }, "query"),
          WrongType(
              "key", [](auto& p) { p.key[0].dtype = DataType::kUint8; }, "key"),
          WrongType(
              "value", [](auto& p) { p.value[0].dtype = DataType::kInt64; }, "value"),
          WrongType(
              "attentionOut", [](auto& p) { p.attention_out.dtype = kWord; }, "attentionOut"),
          WrongType(
              "pseShift",
              [](auto& p) {
                p.scores.pse_shift = View(kByte, {2, 4, 4, 16});
              },
              "pseShift"),
          WrongType(
              "attenMask",
              [](auto& p) {
                MaskOf(p).tensor = View(kHalf, {4, 16});
              },
              "attenMask"),
          WrongType(
              "learnableSink", [](auto& p) { p.scores.learnable_sink = View(kWord, {4}); }, "learnableSink"),
          WrongType(
              "queryRope",
              [](auto& p) {
                AddRope(&p, {});
                p.rope->query.dtype = kByte;
              },
              "queryRope"),
          WrongType(
              "keyRope",
              [](auto& p) {
                AddRope(&p, {});
                p.rope->key.dtype = kByte;
              },
              "keyRope"),
          WrongType(
              "kvPaddingSize",
              [](auto& p) {
                LengthsOf(p).key_value = {4, 4};
                p.padding = LeftPadding{.query_size = {}, .kv_size = View(kWord, {1})};
              },
              "kvPaddingSize"),
          WrongType(
              "queryPaddingSize",
              [](auto& p) {
                LengthsOf(p).query = {4, 4};
                p.padding = LeftPadding{.query_size = View(kWord, {1}), .kv_size = {}};
              },
              "queryPaddingSize"),
          Accepted("padding sizes out of use are not looked at",
                   [](auto& p) {
                     p.padding = LeftPadding{.query_size = View(kWord, {7}), .kv_size = View(kBool, {0})};
                   }),
          WrongType(
              "deqScale1", [](auto& p) { Flow8(p).deq_scale1 = View(kHalf, {1}); }, "deqScale1"),
          WrongType(
              "quantScale1", [](auto& p) { Flow8(p).quant_scale1 = View(DataType::kUint64, {1}); },
              "quantScale1"),
          WrongType(
              "deqScale2", [](auto& p) { Flow8(p).deq_scale2 = View(DataType::kInt64, {1}); }, "deqScale2"),
          WrongType(
              "quantScale2", [](auto& p) { Output8(p).scale = View(kByte, {1}); }, "quantScale2"),
          WrongType(
              "quantOffset2", [](auto& p) { Output8(p).offset = View(kByte, {1}); }, "quantOffset2"),
          WrongType(
              "dequantScaleQuery", [](auto& p) { Mla8(p).query_scale = View(kHalf, {1}); },
              "dequantScaleQuery"),
          WrongType("antiquantScale", scale(&KvAntiquant::scale), "antiquantScale"),
          WrongType("antiquantOffset", scale(&KvAntiquant::offset), "antiquantOffset"),
          WrongType("keyAntiquantScale", scale(&KvAntiquant::key_scale), "keyAntiquantScale"),
          WrongType("keyAntiquantOffset", scale(&KvAntiquant::key_offset), "keyAntiquantOffset"),
          WrongType("valueAntiquantScale", scale(&KvAntiquant::value_scale), "valueAntiquantScale"),
          WrongType("valueAntiquantOffset", scale(&KvAntiquant::value_offset), "valueAntiquantOffset"),
          Accepted("offsets out of use have a dtype and nothing else",
                   [](auto& p) {
                     Antiquant(p).key_offset = View(kHalf, {-7, 0});
                   }),
      });
  CheckRows(Paged({}, 4),
            {WrongType(
                "blockTable", [](auto& p) { p.paged->block_table.dtype = DataType::kInt64; }, "blockTable")});
}

TEST(ArgumentTypes, Formats) {
  std::vector<Row> rows;
  for (const Format format : {Format::kUndefined, Format::kNchw, Format::kNhwc, Format::kNd, Format::kHwcn,
                              Format::kNdhwc, Format::kNcdhw, Format::kNc, Format::kNcl}) {
    rows.push_back(Accepted("a format that stands for dims and strides", [format](auto& p) {
      p.query.format = p.key[0].format = p.attention_out.format = format;
    }));
  }
  rows.push_back(WrongFormat(
      "NC1HWC0", [](auto& p) { p.query.format = static_cast<Format>(3); }, "query"));
  rows.push_back(WrongFormat(
      "FRACTAL_Z", [](auto& p) { p.value[0].format = static_cast<Format>(4); }, "value"));
  rows.push_back(WrongFormat(
      "unknown", [](auto& p) { p.attention_out.format = static_cast<Format>(-9); }, "attentionOut"));
  rows.push_back(WrongFormat(
      "FRACTAL_NZ query", [](auto& p) { p.query.format = Format::kFractalNz; }, "query"));
  rows.push_back(WrongFormat(
      "FRACTAL_NZ key", [](auto& p) { p.key[0].format = Format::kFractalNz; }, "key"));
  CheckRows(Plain(), rows);
  CheckRows(Paged({}, 4),
            {WrongFormat(
                "FRACTAL_NZ cache of 4 axes", [](auto& p) { p.key[0].format = Format::kFractalNz; }, "key")});
  CheckRows(Paged({}, 5),
            {Accepted("FRACTAL_NZ cache",
                      [](auto& p) { p.key[0].format = p.value[0].format = Format::kFractalNz; }),
             WrongFormat(
                 "FRACTAL_NZ table", [](auto& p) { p.paged->block_table.format = Format::kFractalNz; },
                 "blockTable")});
}

}  // namespace
}  // namespace fia::testing
