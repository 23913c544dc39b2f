// Calls that every rule accepts, without data: rules look at dims, strides and types only.
#ifndef FIA_TESTS_CHECK_PLAIN_CALL_H_
#define FIA_TESTS_CHECK_PLAIN_CALL_H_

#include <cstdint>
#include <initializer_list>
#include <string>

#include "fia/attention.h"

namespace fia::testing {

// Sizes of a plain call. Packed layouts: sequence b has (b + 1) * queries and (b + 1) * keys tokens.
struct Sizes {
  const char* layout = "BNSD";
  std::int64_t batch = 2;
  std::int64_t heads = 4;
  std::int64_t kv_heads = 2;
  std::int64_t dim = 128;
  std::int64_t value_dim = 128;
  std::int64_t queries = 4;
  std::int64_t keys = 16;
  DataType dtype = DataType::kFloat16;
};

inline constexpr DataType kHalf = DataType::kFloat16;
inline constexpr DataType kBfloat = DataType::kBfloat16;
inline constexpr DataType kSingle = DataType::kFloat32;
inline constexpr DataType kByte = DataType::kInt8;
inline constexpr DataType kNibble = DataType::kInt4;
inline constexpr DataType kWord = DataType::kInt32;
inline constexpr DataType kBool = DataType::kBool;

// A contiguous view without data.
TensorView View(DataType dtype, std::initializer_list<std::int64_t> dims);

// A view in a layout's form ("BSH", "NBSD", ...). Packed forms: tokens counts all sequences.
TensorView FormView(const std::string& form, DataType dtype, std::int64_t batch, std::int64_t tokens,
                    std::int64_t heads, std::int64_t dim);

AttentionParams Plain(const Sizes& sizes = {});

// The same with key and value in a cache of that rank (3, 4, 5): `blocks` blocks, a table of W columns, whole
// blocks for every sequence.
AttentionParams Paged(Sizes sizes, int rank, std::int64_t block_size = 128, std::int64_t columns = 2);
TensorView CacheView(int rank, DataType dtype, std::int64_t blocks, std::int64_t block_size,
                     std::int64_t heads, std::int64_t dim);

// Adds queryRope and keyRope to a call that is not paged.
void AddRope(AttentionParams* params, const Sizes& sizes);

// Adds a prefix of `tokens` positions.
void AddPrefix(AttentionParams* params, const Sizes& sizes, std::int64_t tokens);

// Key and value as a list of tensors whose S are keys, keys + 1, ...
void MakeList(AttentionParams* params, const Sizes& sizes);

// Changes a dim and makes the strides row-major again.
void SetDim(TensorView* view, int axis, std::int64_t size);

// Groups that rows change: made on first use.
KvAntiquant& Antiquant(AttentionParams& params);
Int8Flow& Flow8(AttentionParams& params);
Int8Output& Output8(AttentionParams& params);
Int8Mla& Mla8(AttentionParams& params);
Mask& MaskOf(AttentionParams& params);
SequenceLengths& LengthsOf(AttentionParams& params);

}  // namespace fia::testing

#endif  // FIA_TESTS_CHECK_PLAIN_CALL_H_
