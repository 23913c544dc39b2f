#include "invariance/variants.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/call_check.h"
#include "support/rng.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kUnlimited = 2147483647;

bool Packed(const CallSpec& spec) { return spec.layout.find('T') != std::string::npos; }

// Whether the base has what cannot be joined with prefix, padding or a list.
bool Plain(const CallSpec& base) {
  return base.rope_dim == 0 && base.head_dim == base.value_dim && !Packed(base);
}

std::vector<std::uint8_t> BitsOfFirst(const CallSpec& spec) {
  BuiltCall call(spec);
  const Status status = call.Run();
  EXPECT_TRUE(status.ok()) << status.message << "\n  call: " << Summary(spec);
  for (std::int64_t b = 0; status.ok() && b < spec.batch(); ++b) {
    if (spec.id(b) == 0) return call.Bits(b, false);
  }
  return {};
}

CallSpec Batched(const CallSpec& base, std::int64_t batch, std::int64_t place) {
  CallSpec spec = base;
  Rng rng(static_cast<std::uint64_t>(batch * 100 + place));
  spec.query_lengths.clear();
  spec.kv_lengths.clear();
  spec.ids.clear();
  for (std::int64_t b = 0; b < batch; ++b) {
    const bool own = b == place;
    spec.ids.push_back(own ? 0 : 1000 + b);
    spec.query_lengths.push_back(own ? base.query_lengths[0] : rng.Between(1, base.query_lengths[0]));
    spec.kv_lengths.push_back(own ? base.kv_lengths[0] : rng.Between(0, 90));
  }
  return spec;
}

}  // namespace

std::vector<Variant> RunVariants(const CallSpec& base) {
  std::vector<Variant> variants;
  for (const int threads : {2, 3, 7}) {
    variants.push_back({"threads " + std::to_string(threads), base});
    variants.back().spec.threads = threads;
  }
  variants.push_back({"without lse", base});
  variants.back().spec.lse = false;
  variants.push_back({"zeros in unused places", base});
  variants.back().spec.fill = UnusedFill::kZero;
  variants.push_back({"innerPrecise + 2", base});
  variants.back().spec.inner_precise = base.inner_precise ^ 2;
  variants.push_back({"longer axes", base});
  variants.back().spec.kv_slack = 37;
  if (base.query_lengths[0] > 1) variants.back().spec.query_slack = 5;
  for (const ViewForm form : {ViewForm::kGaps, ViewForm::kTransposed, ViewForm::kScattered}) {
    CallSpec spec = base;
    spec.query_view = spec.kv_view = spec.out_view = spec.bias.form = form;
    variants.push_back({"views " + std::to_string(static_cast<int>(form)), spec});
  }
  return variants;
}

std::vector<Variant> BatchVariants(const CallSpec& base) {
  return {{"first of 2", Batched(base, 2, 0)},
          {"last of 2", Batched(base, 2, 1)},
          {"inside 16", Batched(base, 16, 7)},
          {"inside 44", Batched(base, 44, 40)}};
}

std::vector<Variant> StorageVariants(const CallSpec& base) {
  std::vector<Variant> variants;
  const std::int64_t keys = base.kv_lengths[0];
  for (const KvStorage form : {KvStorage::kPagedBnBsH, KvStorage::kPagedBnNBsD, KvStorage::kPagedNz}) {
    for (const std::int64_t size : {1, 16, 128}) {
      CallSpec spec = base;
      spec.storage = form;
      spec.paged.block_size = size;
      spec.paged.extra_blocks = 2;
      variants.push_back({"paged by " + std::to_string(size), spec});
      spec.paged.table_slack = 5;
      variants.push_back({"paged with a wide table", spec});
    }
  }
  if (!Plain(base)) return variants;
  variants.push_back({"list", Batched(base, 3, 1)});
  variants.back().spec.storage = KvStorage::kList;
  for (const std::int64_t length : {std::int64_t{1}, keys / 2, keys - 1, keys}) {
    CallSpec spec = base;
    spec.prefix.length = length;
    spec.kv_lengths = {keys - length};
    if (length > 0 && length <= keys) variants.push_back({"prefix of " + std::to_string(length), spec});
  }
  CallSpec padded = base;
  padded.padding.query = padded.padding.kv = true;
  padded.padding.query_size = 1;
  padded.padding.kv_size = 3;
  padded.kv_slack = 20;
  if (base.query_lengths[0] > 1) padded.query_slack = 4;
  variants.push_back({"left padding", padded});
  return variants;
}

std::vector<Variant> LayoutVariants(const CallSpec& base) {
  std::vector<Variant> variants;
  for (const char* layout : {"BSH", "BSND", "BNSD", "BSH_BNSD", "BSND_BNSD", "BNSD_BSND", "BSH_NBSD",
                             "BSND_NBSD", "BNSD_NBSD", "TND", "NTD", "NTD_TND", "TND_NTD"}) {
    CallSpec spec = base;
    spec.layout = layout;
    if (!spec.bias.given || !Packed(spec) || spec.layout == "TND") variants.push_back({layout, spec});
  }
  return variants;
}

std::vector<Variant> MaskVariants(const CallSpec& base) {
  std::vector<Variant> variants;
  const std::int64_t rows = base.query_lengths[0];
  const std::int64_t keys = base.kv_lengths[0];
  const bool causal = base.mask.mode == 3;
  const auto add = [&](const char* name, std::int64_t mode, std::int64_t pre, std::int64_t next, bool full) {
    CallSpec spec = base;
    spec.mask.mode = mode;
    spec.mask.pre_tokens = pre;
    spec.mask.next_tokens = next;
    spec.mask.given = full;
    spec.mask.density = 0;
    if (full && causal) {
      spec = With(spec, [rows, keys](const Site& site) -> std::optional<double> {
        if (site.part != Part::kMask) return std::nullopt;
        return site.dim > site.position + keys - rows ? 1 : 0;
      });
    }
    variants.push_back({name, spec});
  };
  add("full mask", 0, kUnlimited, kUnlimited, true);
  add("full mask of mode 1", 1, 0, 0, true);
  if (causal) {
    add("open band", 4, kUnlimited, 0, false);
    add("wide band", 4, keys, 0, false);
    add("full mask and tokens", 0, kUnlimited, std::max<std::int64_t>(keys - rows, 0), true);
    if (rows == keys) add("causal from the top left", 2, 0, 0, false);
  } else {
    add("open band", 4, kUnlimited, kUnlimited, false);
    add("wide band", 4, keys, rows, false);
    add("full mask and wide tokens", 0, rows, keys, true);
    if (rows == 1) add("causal from the bottom right", 3, 0, 0, false);
  }
  return variants;
}

void ExpectSameBits(const CallSpec& base, const std::vector<Variant>& variants) {
  const std::vector<std::uint8_t> bits = BitsOfFirst(base);
  ASSERT_FALSE(bits.empty());
  for (const Variant& variant : variants) {
    EXPECT_TRUE(BitsOfFirst(variant.spec) == bits)
        << variant.name << "\n  base: " << Summary(base) << "\n  variant: " << Summary(variant.spec);
  }
}

}  // namespace fia::testing
