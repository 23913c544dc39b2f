// int8 and int4 caches: every mode and shape of scales, against numbers dequantised without any tensor.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "reference/reference.h"
#include "scene.h"

namespace fia::testing {
namespace {

// Stored integers in -8..7 (int4 holds them too), scales that are powers of two or small integers: every type
// holds every number here exactly.
double Stored(int which, std::int64_t b, std::int64_t n, std::int64_t j, std::int64_t d) {
  return std::floor(Stream(which)(b, n, j, d) * 7.5);
}

// Scale or offset by meaning: (sequence, kv head, position, element).
Numbers Scales(int which) {
  return [which](std::int64_t b, std::int64_t n, std::int64_t j, std::int64_t d) {
    return (2 + Stream(which)(b, n, j, d)) / 16;
  };
}
Numbers Offsets(int which) {
  return [which](std::int64_t b, std::int64_t n, std::int64_t j, std::int64_t d) {
    return 4 * Stream(which)(b, n, j, d);
  };
}

struct Fixture {
  // Two sequences, decode (one row) or three rows, 4 heads on 2 kv heads.
  Fixture(DataType stored, std::int64_t rows, const std::string& form = "BSND") {
    scene.heads = 4;
    scene.kv_heads = 2;
    scene.query_lengths = {rows, rows};
    call = MakePlainCall(scene, form);
    const auto of = [](int which) {
      return [which](auto b, auto n, auto j, auto d) { return Stored(which, b, n, j, d); };
    };
    key = Arrange({form, stored, 5, {}}, scene.kv_lengths, 2, 16, of(2));
    value = Arrange({form, stored, 5, {}}, scene.kv_lengths, 2, 16, of(3));
    call.params.key = {key.view()};
    call.params.value = {value.view()};
    call.params.quantisation.emplace();
    call.params.quantisation->kv_antiquant.emplace();
  }

  KvAntiquant& scales() { return *call.params.quantisation->kv_antiquant; }

  // What the stored numbers stand for when factors are constant along the axes that `project` drops.
  using Project =
      std::function<double(const Numbers&, std::int64_t, std::int64_t, std::int64_t, std::int64_t)>;
  void Dequantise(const Project& key_of, const Project& value_of, bool offsets) {
    const auto real = [offsets](int which, const Project& of) {
      return [which, of, offsets](std::int64_t b, std::int64_t n, std::int64_t j, std::int64_t d) {
        const double offset = offsets ? of(Offsets(which + 4), b, n, j, d) : 0;
        return (Stored(which, b, n, j, d) + offset) * of(Scales(which + 2), b, n, j, d);
      };
    };
    scene.key = real(2, key_of);
    scene.value = real(3, value_of);
  }

  void ExpectRows() {
    for (std::int64_t b = 0; b < 2; ++b) {
      const std::int64_t i = scene.query_lengths[0] - 1;
      const std::vector<std::int64_t> keys = FirstKeys(scene.kv_lengths[static_cast<std::size_t>(b)]);
      ExpectRow(RowOf(call.params, b, 0, i), Solve(scene, b, 0, i, keys));
      ExpectRow(RowOf(call.params, b, 3, i), Solve(scene, b, 3, i, keys));
    }
  }

  Scene scene;
  PlainCall call;
  Tensor key, value;
};

double PerTensor(const Numbers& of, std::int64_t, std::int64_t, std::int64_t, std::int64_t) {
  return of(0, 0, 0, 0);
}
double PerChannel(const Numbers& of, std::int64_t, std::int64_t n, std::int64_t, std::int64_t d) {
  return of(0, n, 0, d);
}
double PerToken(const Numbers& of, std::int64_t b, std::int64_t, std::int64_t j, std::int64_t) {
  return of(b, 0, j, 0);
}
double PerHead(const Numbers& of, std::int64_t, std::int64_t n, std::int64_t, std::int64_t) {
  return of(0, n, 0, 0);
}
double PerTokenHead(const Numbers& of, std::int64_t b, std::int64_t n, std::int64_t j, std::int64_t) {
  return of(b, n, j, 0);
}

// A tensor of scales whose axes are named by letters: B, N, S, D, H (N * D), '1', and 'K' for the combined
// axis of key and value.
Tensor MakeFactors(const std::string& axes, DataType dtype, const Numbers& key, const Numbers& value,
                   std::int64_t slots = 6) {
  std::vector<std::int64_t> dims;
  for (const char axis : axes) {
    dims.push_back(axis == '1' ? 1 : axis == 'S' ? slots : axis == 'D' ? 16 : axis == 'H' ? 32 : 2);
  }
  Tensor tensor(dtype, dims);
  for (std::int64_t number = 0; number < tensor.size(); ++number) {
    std::int64_t b = 0, n = 0, j = 0, d = 0, side = 0, rest = number;
    for (std::size_t place = axes.size(); place-- > 0; rest /= dims[place]) {
      const std::int64_t index = rest % dims[place];
      if (axes[place] == 'B') b = index;
      if (axes[place] == 'N') n = index;
      if (axes[place] == 'S') j = index;
      if (axes[place] == 'D') d = index;
      if (axes[place] == 'H') n = index / 16, d = index % 16;
      if (axes[place] == 'K') side = index;
    }
    tensor.Set(number, (side == 0 ? key : value)(b, n, j, d));
  }
  return tensor;
}

struct Mode {
  std::int64_t mode;
  const char* axes;
  Fixture::Project project;
};

const Mode kModes[] = {{0, "1", PerTensor},     {0, "1N1D", PerChannel}, {0, "11ND", PerChannel},
                       {0, "1ND", PerChannel},  {0, "1H", PerChannel},   {0, "N1D", PerChannel},
                       {0, "ND", PerChannel},   {0, "H", PerChannel},    {1, "1BS", PerToken},
                       {1, "BS", PerToken},     {2, "N", PerHead},       {3, "1BNS", PerTokenHead},
                       {3, "BNS", PerTokenHead}};

TEST(AntiquantTest, SeparateScalesOfEveryShape) {
  for (const Mode& mode : kModes) {
    for (const bool offsets : {false, true}) {
      for (const std::int64_t rows : {1, 3}) {
        SCOPED_TRACE(std::string(mode.axes) + (offsets ? " with offsets" : ""));
        Fixture fixture(DataType::kInt8, rows);
        const DataType dtype = mode.mode == 0 || mode.mode == 2 ? DataType::kFloat16 : DataType::kFloat32;
        const Tensor key_scale = MakeFactors(mode.axes, dtype, Scales(4), Scales(4));
        const Tensor value_scale = MakeFactors(mode.axes, dtype, Scales(5), Scales(5));
        const Tensor key_offset = MakeFactors(mode.axes, dtype, Offsets(6), Offsets(6));
        const Tensor value_offset = MakeFactors(mode.axes, dtype, Offsets(7), Offsets(7));
        fixture.scales().key_scale = key_scale.view();
        fixture.scales().value_scale = value_scale.view();
        if (offsets) fixture.scales().key_offset = key_offset.view();
        if (offsets) fixture.scales().value_offset = value_offset.view();
        fixture.scales().key_mode = fixture.scales().value_mode = mode.mode;
        // The combined kind is not looked at beside separate scales.
        fixture.scales().scale = TensorView::Contiguous(nullptr, DataType::kFloat16, {3});
        fixture.scales().offset = fixture.scales().scale;
        fixture.scales().mode = 5;
        fixture.Dequantise(mode.project, mode.project, offsets);
        fixture.ExpectRows();
      }
    }
  }
}

TEST(AntiquantTest, KeyPerChannelAndValuePerToken) {
  Fixture fixture(DataType::kInt8, 1);
  const Tensor key_scale = MakeFactors("ND", DataType::kFloat16, Scales(4), Scales(4));
  const Tensor value_scale = MakeFactors("BS", DataType::kFloat32, Scales(5), Scales(5));
  fixture.scales().key_scale = key_scale.view();
  fixture.scales().value_scale = value_scale.view();
  fixture.scales().value_mode = 1;
  fixture.Dequantise(PerChannel, PerToken, false);
  fixture.ExpectRows();
}

TEST(AntiquantTest, CombinedScales) {
  const Mode modes[] = {{0, "K", PerTensor},    {0, "KN1D", PerChannel}, {0, "K1ND", PerChannel},
                        {0, "KND", PerChannel}, {0, "KH", PerChannel},   {1, "KBS", PerToken}};
  for (const Mode& mode : modes) {
    for (const std::int64_t rows : {1, 3}) {
      if (rows > 1 && mode.mode == 1) continue;
      SCOPED_TRACE(mode.axes);
      Fixture fixture(DataType::kInt8, rows, "BNSD");
      const DataType dtype = mode.mode == 0 ? DataType::kFloat16 : DataType::kFloat32;
      const Tensor scale = MakeFactors(mode.axes, dtype, Scales(4), Scales(5));
      const Tensor offset = MakeFactors(mode.axes, dtype, Offsets(6), Offsets(7));
      fixture.scales().scale = scale.view();
      fixture.scales().offset = offset.view();
      fixture.scales().mode = rows > 1 ? 1 : mode.mode;  // not looked at with more than one row
      fixture.Dequantise(mode.project, mode.project, true);
      fixture.ExpectRows();
    }
  }
}

// Blocks of 2 tokens; sequence 0 in blocks 3, 0, 2 and sequence 1 in blocks 1, 4.
TEST(AntiquantTest, ScalesPagedWithTheCache) {
  const std::vector<std::vector<std::int64_t>> blocks = {{3, 0, 2}, {1, 4}};
  for (const std::int64_t mode : {1, 3, 4, 5}) {
    SCOPED_TRACE(mode);
    Fixture fixture(DataType::kInt8, 1);
    fixture.key = Tensor(DataType::kInt8, {5, 2, 2, 16});
    fixture.value = Tensor(DataType::kInt8, {5, 2, 2, 16});
    Tensor key_scale(DataType::kFloat32,
                     mode == 4 ? std::vector<std::int64_t>{5, 2} : std::vector<std::int64_t>{5, 2, 2});
    Tensor value_scale = key_scale.Restored({});
    key_scale.FillNaN();
    value_scale.FillNaN();
    for (std::int64_t b = 0; b < 2; ++b) {
      for (std::int64_t j = 0; j < fixture.scene.kv_lengths[static_cast<std::size_t>(b)]; ++j) {
        const std::int64_t block = blocks[static_cast<std::size_t>(b)][static_cast<std::size_t>(j / 2)];
        for (std::int64_t n = 0; n < 2; ++n) {
          for (std::int64_t d = 0; d < 16; ++d) {
            fixture.key.Put({block, n, j % 2, d}, Stored(2, b, n, j, d));
            fixture.value.Put({block, n, j % 2, d}, Stored(3, b, n, j, d));
          }
          const std::vector<std::int64_t> at = mode == 4 ? std::vector<std::int64_t>{block, j % 2}
                                                         : std::vector<std::int64_t>{block, n, j % 2};
          if (mode == 4 || mode == 5) {
            key_scale.Put(at, Scales(4)(b, mode == 5 ? n : 0, j, 0));
            value_scale.Put(at, Scales(5)(b, mode == 5 ? n : 0, j, 0));
          }
        }
      }
    }
    if (mode == 1 || mode == 3) {  // by token position, also when the cache is paged
      const char* axes = mode == 1 ? "BS" : "BNS";
      key_scale = MakeFactors(axes, DataType::kFloat32, Scales(4), Scales(4));
      value_scale = MakeFactors(axes, DataType::kFloat32, Scales(5), Scales(5));
    }
    Tensor table(DataType::kInt32, {2, 3});
    table.FillFrom({3, 0, 2, 1, 4, -1});
    fixture.call.params.key = {fixture.key.view()};
    fixture.call.params.value = {fixture.value.view()};
    fixture.call.params.paged = PagedCache{table.view(), 2};
    fixture.scales().key_scale = key_scale.view();
    fixture.scales().value_scale = value_scale.view();
    fixture.scales().key_mode = fixture.scales().value_mode = mode;
    const Fixture::Project project = mode == 1 || mode == 4 ? PerToken : PerTokenHead;
    fixture.Dequantise(project, project, false);
    fixture.ExpectRows();
  }
}

// Eight nibbles in each int32, lowest first, along the last axis.
Tensor PackInt32(const Tensor& int4, const std::vector<std::int64_t>& dims) {
  Tensor packed(DataType::kInt32, dims);
  for (std::int64_t word = 0; word < packed.size(); ++word) {
    std::uint32_t bits = 0;
    for (std::int64_t e = 0; e < 8; ++e)
      bits |= (static_cast<std::uint32_t>(static_cast<std::int32_t>(int4.Get(word * 8 + e))) & 15u)
              << (4 * e);
    packed.SetBits(word, bits);
  }
  return packed;
}

TEST(AntiquantTest, Int4InBothContainers) {
  for (const char* form : {"BSND", "BSH", "BNSD"}) {
    for (const bool in_int32 : {false, true}) {
      SCOPED_TRACE(std::string(form) + (in_int32 ? " int32" : " int4"));
      Fixture fixture(DataType::kInt4, 1, form);
      if (in_int32) {
        std::vector<std::int64_t> dims = fixture.key.dims();
        dims.back() /= 8;
        fixture.key = PackInt32(fixture.key, dims);
        fixture.value = PackInt32(fixture.value, dims);
        fixture.call.params.key = {fixture.key.view()};
        fixture.call.params.value = {fixture.value.view()};
      }
      const Tensor key_scale = MakeFactors("ND", DataType::kFloat16, Scales(4), Scales(4));
      const Tensor value_scale = MakeFactors("ND", DataType::kFloat16, Scales(5), Scales(5));
      fixture.scales().key_scale = key_scale.view();
      fixture.scales().value_scale = value_scale.view();
      fixture.Dequantise(PerChannel, PerChannel, false);
      fixture.ExpectRows();
    }
  }
}

// 0x76543210 holds 0, 1, ..., 7; 0xFFFFFFF8 holds -8 and seven times -1.
TEST(AntiquantTest, NibbleOrder) {
  const std::uint32_t words[] = {0x76543210u, 0xfffffff8u};
  const double expected[] = {0, 1, 2, 3, 4, 5, 6, 7, -8, -1, -1, -1, -1, -1, -1, -1};
  Tensor query(DataType::kFloat16, {1, 1, 1, 16});
  Tensor one(DataType::kFloat16, {1});
  one.Fill(1);
  for (const DataType dtype : {DataType::kInt32, DataType::kInt4}) {
    AttentionParams params;
    params.query = params.attention_out = query.view();
    const std::int64_t last = dtype == DataType::kInt32 ? 2 : 16;
    const TensorView cache = TensorView::Contiguous(words, dtype, {1, 1, 1, last});
    params.key = params.value = {cache};
    params.heads = {"BSND", 1, 1};
    params.quantisation.emplace();
    params.quantisation->kv_antiquant.emplace();
    params.quantisation->kv_antiquant->key_scale = params.quantisation->kv_antiquant->value_scale =
        one.view();
    const ReferenceRow row = RowOf(params, 0, 0, 0);
    for (std::size_t d = 0; d < 16; ++d) EXPECT_EQ(row.out[d], expected[d]) << d;
  }
}

// Per-token columns count from the first prefix token, and the prefix has the cache's scales.
TEST(AntiquantTest, QuantisedPrefix) {
  for (const bool int4 : {false, true}) {
    const DataType stored = int4 ? DataType::kInt4 : DataType::kInt8;
    Fixture fixture(stored, 1);
    fixture.scene.kv_lengths = {6, 5};
    const auto part = [](int which, std::int64_t from) {
      return [which, from](auto b, auto n, auto j, auto d) {
        return Stored(which, from == 0 ? 0 : b, n, j + from, d);
      };
    };
    const Tensor prefix_key = Arrange({"BSND", stored, 2, {}}, {2}, 2, 16, part(2, 0));
    const Tensor prefix_value = Arrange({"BSND", stored, 2, {}}, {2}, 2, 16, part(3, 0));
    fixture.key = Arrange({"BSND", stored, 5, {}}, {4, 3}, 2, 16, part(2, 2));
    fixture.value = Arrange({"BSND", stored, 5, {}}, {4, 3}, 2, 16, part(3, 2));
    AttentionParams& params = fixture.call.params;
    params.key = {fixture.key.view()};
    params.value = {fixture.value.view()};
    params.lengths->key_value = {4, 3};
    params.prefix = SharedPrefix{prefix_key.view(), prefix_value.view(), {}};
    const Tensor key_scale = MakeFactors("BS", DataType::kFloat32, Scales(4), Scales(4));
    const Tensor value_scale = MakeFactors("BS", DataType::kFloat32, Scales(5), Scales(5));
    fixture.scales().key_scale = key_scale.view();
    fixture.scales().value_scale = value_scale.view();
    fixture.scales().key_mode = fixture.scales().value_mode = 1;
    const auto real = [](int which) {
      return [which](std::int64_t b, std::int64_t n, std::int64_t j, std::int64_t d) {
        return Stored(which, j < 2 ? 0 : b, n, j, d) * Scales(which + 2)(b, 0, j, 0);
      };
    };
    fixture.scene.key = real(2);
    fixture.scene.value = real(3);
    fixture.ExpectRows();
  }
}

// Per-token scales under left padding are indexed by padded positions.
TEST(AntiquantTest, LeftPaddedPositions) {
  Fixture fixture(DataType::kInt8, 1);
  Tensor size(DataType::kInt64, {1});
  fixture.call.params.padding = LeftPadding{TensorView(), size.view()};
  fixture.call.params.lengths->key_value = {3, 2};  // keys 2, 3, 4 and 3, 4
  const Tensor scale = MakeFactors("BS", DataType::kFloat32, Scales(4), Scales(4));
  fixture.scales().key_scale = fixture.scales().value_scale = scale.view();
  fixture.scales().key_mode = fixture.scales().value_mode = 1;
  fixture.key = Arrange({"BSND", DataType::kInt8, 5, {}}, {5, 5}, 2, 16,
                        [](auto b, auto n, auto j, auto d) { return Stored(2, b, n, j, d); });
  fixture.call.params.key = fixture.call.params.value = {fixture.key.view()};
  fixture.scene.key = fixture.scene.value = [](auto b, auto n, auto j, auto d) {
    return Stored(2, b, n, j, d) * Scales(4)(b, 0, j, 0);
  };
  ExpectRow(RowOf(fixture.call.params, 0, 1, 0), Solve(fixture.scene, 0, 1, 0, {2, 3, 4}));
  ExpectRow(RowOf(fixture.call.params, 1, 1, 0), Solve(fixture.scene, 1, 1, 0, {3, 4}));
}

// Stored -118, offset 120, scale 1/2: the value is 1, and the bound counts |scale| (|stored| + |offset|) =
// 119.
TEST(AntiquantTest, TheBoundGrowsWithStoredSizeAndOffset) {
  Tensor query(DataType::kFloat16, {1, 1, 1, 1});
  Tensor cache(DataType::kInt8, {1, 1, 1, 1});
  Tensor scale(DataType::kFloat16, {1});
  Tensor offset(DataType::kFloat16, {1});
  query.Fill(2);
  cache.Fill(-118);
  scale.Fill(0.5);
  offset.Fill(120);
  AttentionParams params;
  params.query = params.attention_out = query.view();
  params.key = params.value = {cache.view()};
  params.heads = {"BSND", 1, 1};
  params.quantisation.emplace();
  KvAntiquant scales;
  scales.key_scale = scales.value_scale = scale.view();
  scales.key_offset = scales.value_offset = offset.view();
  params.quantisation->kv_antiquant = scales;
  const ReferenceRow row = RowOf(params, 0, 0, 0);
  EXPECT_EQ(row.out[0], 1.0);
  EXPECT_EQ(row.lse, 2.0);
  EXPECT_DOUBLE_EQ(row.lse_tolerance, 4e-6 * 238);
  EXPECT_NEAR(row.out_high[0] - 1, 0x1p-10 + (0x1p-16 + 0x1p-18 * 238) * 119, 1e-12);
}

}  // namespace
}  // namespace fia::testing
