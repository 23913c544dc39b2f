#include "kernels/tile_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <sstream>

#include "core/sizes.h"
#include "fia/half.h"

namespace fia::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

DataType TypeOf(KvType kv) {
  constexpr DataType kTypes[] = {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32, DataType::kInt8,
                                 DataType::kInt4};
  return kTypes[static_cast<int>(kv)];
}

bool IsInteger(DataType type) { return type == DataType::kInt8 || type == DataType::kInt4; }

double Draw(Rng& rng, DataType type, double spread) {
  if (type == DataType::kInt8) return static_cast<double>(rng.Between(-128, 127));
  if (type == DataType::kInt4) return static_cast<double>(rng.Between(-8, 7));
  return rng.Normal() * spread;
}

void Fill(RowBlocks& blocks, std::int64_t rows, std::int64_t size, double spread, Rng& rng) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < size; ++i) blocks.Set(row, i, Draw(rng, blocks.type(), spread));
  }
}

std::vector<float> DrawFactors(bool wanted, std::int64_t count, double low, double high, Rng& rng) {
  std::vector<float> values(wanted ? static_cast<std::size_t>(count) : 0);
  for (float& value : values) value = static_cast<float>(rng.Uniform(low, high));
  return values;
}

}  // namespace

std::int64_t TileCase::keys() const { return std::accumulate(tiles.begin(), tiles.end(), std::int64_t{0}); }

std::string ToText(const TileCase& spec) {
  std::ostringstream text;
  text << "body " << static_cast<int>(spec.body) << " kv " << static_cast<int>(spec.kv) << " rows "
       << spec.rows << " tiles";
  for (std::int64_t keys : spec.tiles) text << ' ' << keys;
  text << " D " << spec.head_dim << " Dr " << spec.rope_dim << " Dv " << spec.value_dim << " query "
       << static_cast<int>(spec.query) << " scale " << spec.scale << " spread " << spec.spread << " band "
       << static_cast<int>(spec.band) << " bias " << static_cast<int>(spec.bias) << " x" << spec.bias_spread
       << (spec.bias_holes ? " holes" : "") << (spec.mask ? " mask" : "") << (spec.strided ? " strided" : "")
       << " factors " << spec.row_scale << spec.row_offset << spec.key_scale << spec.key_offset
       << spec.value_scale << spec.value_offset << " weights " << static_cast<int>(spec.weights) << " x"
       << spec.weight_scale << (spec.hostile ? " hostile" : "") << " seed " << spec.seed;
  return text.str();
}

RowBlocks::RowBlocks(std::int64_t count, std::int64_t size, DataType type, std::int64_t stride)
    : type_(type), stride_(stride) {
  const std::int64_t elements = size == 0 ? 0 : (size - 1) * stride + 1;
  const auto bytes = static_cast<std::size_t>(CeilDiv(elements * BitsOf(type), 8));
  for (std::int64_t row = 0; row < count; ++row) {
    blocks_.push_back(std::make_unique<std::uint8_t[]>(bytes));
    pointers_.push_back(blocks_.back().get());
  }
}

std::int64_t RowBlocks::stride_bytes() const { return stride_ * BitsOf(type_) / 8; }

double RowBlocks::Get(std::int64_t row, std::int64_t index) const {
  const std::uint8_t* bytes = blocks_[static_cast<std::size_t>(row)].get();
  if (type_ == DataType::kInt4) {
    const int nibble = bytes[index / 2] >> (index % 2 * 4) & 15;
    return nibble < 8 ? nibble : nibble - 16;
  }
  const std::uint8_t* from = bytes + index * stride_bytes();
  if (type_ == DataType::kInt8) return static_cast<std::int8_t>(*from);
  if (type_ == DataType::kFloat32) {
    float value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::uint16_t half;
  std::memcpy(&half, from, sizeof half);
  return type_ == DataType::kFloat16 ? HalfToFloat(half) : Bfloat16ToFloat(half);
}

void RowBlocks::Set(std::int64_t row, std::int64_t index, double value) {
  std::uint8_t* bytes = blocks_[static_cast<std::size_t>(row)].get();
  if (type_ == DataType::kInt4) {
    const int shift = static_cast<int>(index % 2 * 4);
    const int nibble = static_cast<int>(value) & 15;
    bytes[index / 2] = static_cast<std::uint8_t>((bytes[index / 2] & ~(15 << shift)) | nibble << shift);
    return;
  }
  std::uint8_t* to = bytes + index * stride_bytes();
  const float single = static_cast<float>(value);
  if (type_ == DataType::kInt8) {
    *to = static_cast<std::uint8_t>(static_cast<int>(value));
  } else if (type_ == DataType::kFloat32) {
    std::memcpy(to, &single, sizeof single);
  } else {
    const std::uint16_t half = type_ == DataType::kFloat16 ? FloatToHalf(single) : FloatToBfloat16(single);
    std::memcpy(to, &half, sizeof half);
  }
}

TileData::TileData(const TileCase& from)
    : spec(from),
      query(spec.rows, spec.head_dim, spec.query, spec.strided ? 3 : 1),
      query_rope(spec.rows, spec.rope_dim, spec.rope, spec.strided ? 2 : 1),
      key(spec.keys(), spec.head_dim, TypeOf(spec.kv)),
      key_rope(spec.keys(), spec.rope_dim, spec.rope),
      value(spec.keys(), spec.value_dim, TypeOf(spec.kv)),
      bias(spec.bias != DataType::kUndefined ? spec.rows : 0, spec.keys(),
           spec.bias != DataType::kUndefined ? spec.bias : DataType::kFloat16, spec.strided ? 2 : 1),
      mask(spec.mask ? spec.rows : 0, spec.keys(), DataType::kInt8, spec.strided ? 3 : 1) {
  Rng rng(spec.seed);
  Fill(query, spec.rows, spec.head_dim, spec.spread, rng);
  Fill(query_rope, spec.rows, spec.rope_dim, spec.spread, rng);
  Fill(key, spec.keys(), spec.head_dim, spec.spread, rng);
  Fill(key_rope, spec.keys(), spec.rope_dim, spec.spread, rng);
  Fill(value, spec.keys(), spec.value_dim, 1, rng);
  if (spec.bias != DataType::kUndefined) Fill(bias, spec.rows, spec.keys(), spec.bias_spread, rng);
  for (std::int64_t row = 0; row < spec.rows; ++row) {
    for (std::int64_t j = 0; j < spec.keys(); ++j) {
      if (spec.bias_holes && rng.Chance(0.2)) bias.Set(row, j, -kInfinity);
      if (spec.mask) mask.Set(row, j, rng.Chance(0.3) ? static_cast<double>(rng.Between(-128, -1)) : 0);
    }
  }
  row_scale = DrawFactors(spec.row_scale, spec.rows, 0.5, 2, rng);
  row_offset = DrawFactors(spec.row_offset, spec.rows, -1, 1, rng);
  key_scale = DrawFactors(spec.key_scale, spec.keys(), 0.01, 0.1, rng);
  key_offset = DrawFactors(spec.key_offset, spec.keys(), -5, 5, rng);
  value_scale = DrawFactors(spec.value_scale, spec.keys(), 0.5, 2, rng);
  value_offset = DrawFactors(spec.value_offset, spec.keys(), -5, 5, rng);
  FillBand(rng);
  if (spec.hostile) FillHostile(rng);
}

void TileData::FillBand(Rng& rng) {
  for (std::int64_t row = 0; row < spec.rows; ++row) {
    begin.push_back(spec.band == Band::kRandom ? rng.Between(0, spec.keys()) : 0);
    end.push_back(spec.band == Band::kAll ? spec.keys()
                  : spec.band == Band::kCausal
                      ? std::clamp<std::int64_t>(spec.keys() - spec.rows + row + 1, 0, spec.keys())
                      : rng.Between(0, spec.keys()));
  }
}

bool TileData::Attends(std::int64_t row, std::int64_t j) const {
  const auto r = static_cast<std::size_t>(row);
  if (j < begin[r] || j >= end[r]) return false;
  if (spec.mask && mask.Get(row, j) != 0) return false;
  return spec.bias == DataType::kUndefined || bias.Get(row, j) != -kInfinity;
}

void TileData::FillHostile(Rng& rng) {
  for (std::int64_t j = 0; j < spec.keys(); ++j) {
    std::int64_t attending = 0;
    for (std::int64_t row = 0; row < spec.rows; ++row) attending += Attends(row, j) ? 1 : 0;
    if (attending == 0) {
      for (std::int64_t d = 0; d < spec.head_dim && !IsInteger(key.type()); ++d) key.Set(j, d, kNaN);
      for (std::int64_t d = 0; d < spec.rope_dim; ++d) key_rope.Set(j, d, kInfinity);
      for (std::int64_t d = 0; d < spec.value_dim && !IsInteger(value.type()); ++d) value.Set(j, d, kNaN);
      for (auto* factors : {&key_scale, &key_offset, &value_scale, &value_offset}) {
        if (!factors->empty()) (*factors)[static_cast<std::size_t>(j)] = static_cast<float>(kNaN);
      }
    } else if (attending < spec.rows && !IsInteger(value.type()) && rng.Chance(0.3)) {
      value.Set(j, rng.Between(0, spec.value_dim - 1), rng.Chance(0.5) ? kNaN : kInfinity);
    }
  }
}

OwnedState::OwnedState(std::int64_t rows, std::int64_t value_dim)
    : row_max(static_cast<std::size_t>(rows), -std::numeric_limits<float>::infinity()),
      row_sum(static_cast<std::size_t>(rows)),
      offset_sum(static_cast<std::size_t>(rows)),
      acc_stride(RoundUp(value_dim, 16)) {
  acc.resize(static_cast<std::size_t>(rows * acc_stride));
}

SoftmaxState OwnedState::view() {
  return {row_max.data(), row_sum.data(), offset_sum.data(), acc.data(), acc_stride};
}

}  // namespace fia::testing
