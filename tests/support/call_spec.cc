#include "support/call_spec.h"

#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

namespace fia::testing {
namespace {

std::uint64_t Mix(std::uint64_t state, std::int64_t value) {
  state = (state ^ static_cast<std::uint64_t>(value)) + 0x9e3779b97f4a7c15u;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
  return state ^ (state >> 31);
}

std::uint64_t SiteHash(std::uint64_t seed, const Site& site) {
  std::uint64_t hash = Mix(seed, static_cast<std::int64_t>(site.part));
  hash = Mix(hash, site.sequence);
  hash = Mix(hash, site.head);
  hash = Mix(hash, site.position);
  return Mix(hash, site.dim);
}

double Unit(std::uint64_t hash) { return static_cast<double>(hash >> 11) * 0x1p-53; }

double Symmetric(std::uint64_t hash) { return 2 * Unit(hash) - 1; }

// A stored element of query, key or value.
double Stored(std::uint64_t hash, DataType dtype, double magnitude) {
  switch (dtype) {
    case DataType::kInt8:
      return std::floor(Unit(hash) * 256) - 128;
    case DataType::kInt4:
      return std::floor(Unit(hash) * 16) - 8;
    default:
      return Symmetric(hash) * magnitude;
  }
}

// What makes dequantised keys, values and queries as large as unquantised ones.
double ScaleOf(DataType stored, double magnitude) {
  return magnitude / (stored == DataType::kInt4 ? 8.0 : 128.0);
}

const char* Name(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat16:
      return "f16";
    case DataType::kBfloat16:
      return "bf16";
    case DataType::kFloat32:
      return "f32";
    case DataType::kInt8:
      return "i8";
    case DataType::kInt4:
      return "i4";
    default:
      return "?";
  }
}

const char* Name(KvStorage storage) {
  constexpr const char* kNames[] = {"tensor", "list", "BnBsH", "BnNBsD", "NZ"};
  return kNames[static_cast<int>(storage)];
}

void Write(std::ostream& out, const char* name, const std::vector<std::int64_t>& values) {
  out << ' ' << name << '{';
  for (std::size_t index = 0; index < values.size(); ++index) out << (index ? "," : "") << values[index];
  out << '}';
}

void WriteQuant(std::ostream& out, const QuantSpec& quant) {
  if (quant.flow != QuantFlow::kNone) {
    out << " flow" << static_cast<int>(quant.flow) << (quant.combined ? " combined" : "") << " modes"
        << quant.key_mode << ',' << quant.value_mode << (quant.per_channel ? " channel" : "") << " form"
        << quant.shape_form << (quant.offsets ? " offsets" : "") << (quant.int4_in_int32 ? " int32" : "");
  }
  if (quant.output != OutputQuant::kNone)
    out << " out8:" << static_cast<int>(quant.output) << (quant.output_offset ? "+offset" : "");
}

}  // namespace

std::string Summary(const CallSpec& spec) {
  std::ostringstream out;
  out << spec.layout << (spec.check == Check::kStrict ? " strict" : " relaxed") << " N" << spec.num_heads
      << '/' << spec.num_kv_heads << " D" << spec.head_dim << '/' << spec.value_dim << '+' << spec.rope_dim
      << ' ' << Name(spec.dtype) << ';' << Name(spec.kv_dtype) << ';' << Name(spec.out_dtype);
  Write(out, "S1", spec.query_lengths);
  Write(out, "S2", spec.kv_lengths);
  out << " slack" << spec.query_slack << ',' << spec.kv_slack << ' ' << Name(spec.storage);
  if (spec.is_paged()) out << ':' << spec.paged.block_size;
  out << " views" << static_cast<int>(spec.query_view) << static_cast<int>(spec.kv_view)
      << static_cast<int>(spec.out_view) << " mode" << spec.mask.mode;
  if (spec.mask.given)
    out << " mask" << spec.mask.rank << (spec.mask.batch_shared ? "d/1" : "d/B") << " density "
        << spec.mask.density;
  if (spec.mask.pre_tokens != 2147483647 || spec.mask.next_tokens != 2147483647)
    out << " band" << spec.mask.pre_tokens << ',' << spec.mask.next_tokens;
  if (spec.bias.given) out << " pse" << (spec.bias.batch_shared ? "/1" : "/B");
  if (spec.prefix.length + spec.prefix.axis_slack > 0) out << " prefix" << spec.prefix.length;
  if (spec.padding.query) out << " qpad" << spec.padding.query_size;
  if (spec.padding.kv) out << " kvpad" << spec.padding.kv_size;
  out << (spec.sink ? " sink" : "") << (spec.lse ? " lse" : "") << " scale" << spec.scale << " ip"
      << spec.inner_precise << " threads" << spec.threads;
  WriteQuant(out, spec.quant);
  return out.str();
}

double ContentAt(const CallSpec& spec, const Site& site) {
  if (spec.content) return spec.content(site);
  const std::uint64_t hash = SiteHash(spec.seed, site);
  const bool mla = spec.quant.flow == QuantFlow::kInt8Mla;
  switch (site.part) {
    case Part::kQuery:
      return Stored(hash, spec.dtype, spec.query_magnitude);
    case Part::kKey:
      return Stored(hash, spec.kv_dtype, spec.key_magnitude);
    case Part::kValue:
      return Stored(hash, spec.kv_dtype, spec.value_magnitude);
    case Part::kQueryRope:  // int8 MLA: the caller has divided it by the scales of query and key
      return Symmetric(hash) * (mla ? 128.0 * 128.0 / spec.key_magnitude : spec.query_magnitude);
    case Part::kKeyRope:
      return Symmetric(hash) * spec.key_magnitude;
    case Part::kBias:
      if (Unit(Mix(hash, 1)) < spec.bias.infinite_share) return -std::numeric_limits<double>::infinity();
      return Symmetric(hash) * spec.bias.magnitude;
    case Part::kMask:
      return Unit(hash) < spec.mask.density ? 1 : 0;
    case Part::kSink:
      return 3 * Symmetric(hash);
    case Part::kKeyScale:
      return (0.5 + Unit(hash)) * ScaleOf(spec.kv_dtype, spec.key_magnitude);
    case Part::kValueScale:
      return (0.5 + Unit(hash)) * ScaleOf(spec.kv_dtype, spec.value_magnitude);
    case Part::kKeyOffset:
    case Part::kValueOffset:
      return Symmetric(hash) * spec.quant.offset_magnitude;
    case Part::kQueryScale:
      return (0.5 + Unit(hash)) * ScaleOf(spec.dtype, spec.query_magnitude);
    case Part::kOutputScale:
      return 20 + 200 * Unit(hash);
    case Part::kOutputOffset:
      return 30 * Symmetric(hash);
  }
  return 0;
}

CallSpec With(CallSpec spec, std::function<std::optional<double>(const Site&)> numbers) {
  spec.content = [base = spec, numbers = std::move(numbers)](const Site& site) {
    const std::optional<double> number = numbers(site);
    return number ? *number : ContentAt(base, site);
  };
  return spec;
}

CallSpec WithOneHotValues(CallSpec spec) {
  return With(std::move(spec), [](const Site& site) -> std::optional<double> {
    if (site.part != Part::kValue) return std::nullopt;
    return site.dim == site.position ? 1 : 0;
  });
}

}  // namespace fia::testing
