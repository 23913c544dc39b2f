// The rule paged: block table, block size and caches.
#include "check/rules.h"

namespace fia::check {
namespace {

constexpr std::int64_t kMostBlockTokens = 1024;
constexpr std::int64_t kMostHidden = 65535;

bool TableFits(Context& context) {
  const TensorView& table = *context.Used(Argument::kBlockTable);
  const Call& call = context.call;
  if (table.rank != 2 || table.dims[0] != call.batch) {
    return Refuse(context, Argument::kBlockTable,
                  Text("got shape ", table, ", it must be (B,W) with query's B = ", call.batch));
  }
  if (call.block_size < 1) {
    return Refuse(context, "blockSize",
                  Text("got ", call.block_size, ", with blockTable it must be at least 1"));
  }
  for (std::size_t index = 0; index < call.kv_lengths.size(); ++index) {
    const std::int64_t length = call.kv_lengths[index];
    if (CeilDiv(length, call.block_size) <= table.dims[1]) continue;
    return Refuse(context, Argument::kBlockTable,
                  Text("got shape ", table, ", sequence ", static_cast<std::int64_t>(index), " needs ",
                       CeilDiv(length, call.block_size), " blocks for its actualSeqLengthsKv = ", length,
                       " with blockSize = ", call.block_size));
  }
  return true;
}

// The axis of a cache that counts tokens of a block.
int TokenAxisOf(CacheForm form) noexcept {
  switch (form) {
    case CacheForm::kBlockHeadTokenDim:
      return 2;
    case CacheForm::kFractalNz:
      return 3;
    default:
      return 1;
  }
}

const char* AxisNames(CacheForm form) noexcept {
  switch (form) {
    case CacheForm::kBlockHeadTokenDim:
      return "(blocks,Nk,blockSize,D)";
    case CacheForm::kFractalNz:
      return "(blocks,Nk,D/D0,blockSize,D0)";
    default:
      return "(blocks,blockSize,Nk*D)";
  }
}

bool BlockSizeFits(Context& context) {
  const Call& call = context.call;
  const TensorView& key = context.params.key.front();
  if (call.cache == CacheForm::kNone) {
    return Refuse(context, Argument::kKey,
                  Text("got shape ", key, ", with blockTable it must be a cache of 3, 4 or 5 axes"));
  }
  const std::int64_t axis = key.dims[TokenAxisOf(call.cache)];
  if (axis == call.block_size) return true;
  return Refuse(context, "blockSize",
                Text("got ", call.block_size, ", key has shape ", key, " = ", AxisNames(call.cache),
                     " with blockSize = ", axis));
}

bool CacheFits(Context& context, Argument argument, const TensorView& cache, std::int64_t dim) {
  const Call& call = context.call;
  const CacheSizes sizes{call.block_count, call.block_size, call.num_kv_heads, dim};
  const Shape shape = Stored(context, ShapeOf(call.cache, sizes, cache.dtype));
  if (HasShape(cache, shape)) return true;
  const bool key = argument == Argument::kKey;
  return Refuse(context, argument,
                Text("got shape ", cache, ", with ", key ? "query " : "key ",
                     key ? context.params.query : context.params.key.front(),
                     ", numKeyValueHeads = ", call.num_kv_heads, " and blockSize = ", call.block_size,
                     " it must be ", AxisNames(call.cache), " = ", shape));
}

// What the accelerator needs of block sizes and counts.
bool HardwareFits(Context& context) {
  const Call& call = context.call;
  const bool bytes = call.kv_dtype == DataType::kInt8;
  const std::int64_t step = bytes ? 32 : 16;
  if (call.block_size % step != 0 || call.block_size > kMostBlockTokens) {
    return Refuse(context, "blockSize",
                  Text("got ", call.block_size, ", with key ", call.kv_dtype, " it must be a multiple of ",
                       step, " up to ", kMostBlockTokens));
  }
  const bool unusual = call.head_dim != 64 && call.head_dim != 128;
  if (!call.layout->packed && !context.rope && unusual) {
    if (call.query_axis > 1 ? call.block_size % 128 != 0 : call.block_size > 512) {
      return Refuse(context, "blockSize",
                    Text("got ", call.block_size, " with query's D = ", call.head_dim, ", it must be ",
                         call.query_axis > 1 ? "a multiple of 128 for several query positions"
                                             : "at most 512 for one query position"));
    }
  }
  const TensorView& key = context.params.key.front();
  if (call.cache == CacheForm::kBlockTokenHidden && key.dims[2] > kMostHidden) {
    return Refuse(context, Argument::kKey,
                  Text("got shape ", key, ", in a cache of 3 axes the last may be at most ", kMostHidden));
  }
  std::int64_t needed = 0;
  for (const std::int64_t length : call.kv_lengths) {
    if (!AddChecked(needed, CeilDiv(length, call.block_size), &needed)) needed = INT64_MAX;
  }
  if (needed <= call.block_count) return true;
  return Refuse(context, Argument::kKey,
                Text("got a cache of ", call.block_count,
                     " blocks, the sequences of actualSeqLengthsKv have ", needed));
}

}  // namespace

bool CheckPaged(Context& context) {
  if (!context.paged) return true;
  if (!TableFits(context)) return false;
  if (context.call.tensor_list) return true;  // refused by `exclusive`
  if (!BlockSizeFits(context)) return false;
  if (!CacheFits(context, Argument::kKey, context.params.key.front(), context.call.head_dim)) return false;
  if (!CacheFits(context, Argument::kValue, context.params.value.front(), context.call.value_dim))
    return false;
  return !context.strict || HardwareFits(context);
}

}  // namespace fia::check
