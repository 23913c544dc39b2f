// Reading the arguments of the operator's phase one: handles and attributes become the native parameters.
#ifndef FIA_ACLNN_CALL_ARGUMENTS_H_
#define FIA_ACLNN_CALL_ARGUMENTS_H_

#include <cstdint>
#include <vector>

#include "aclnn/executor.h"
#include "fia/attention.h"

namespace fia::aclnn {

constexpr int kArgumentCount = 31;

// The tensors, lists and arrays of a call in the order of enum Argument; null where none is given.
struct Handles {
  const void* at[kArgumentCount] = {};
};

struct Attributes {
  std::int64_t num_heads = 0;
  double scale = 1;
  std::int64_t pre_tokens = 0;
  std::int64_t next_tokens = 0;
  const char* layout = nullptr;
  std::int64_t num_kv_heads = 0;
  std::int64_t sparse_mode = 0;
  std::int64_t inner_precise = 0;
  std::int64_t block_size = 0;
  std::int64_t antiquant_mode = 0;
  bool softmax_lse = false;
  std::int64_t key_antiquant_mode = 0;
  std::int64_t value_antiquant_mode = 0;
  std::int64_t query_quant_mode = 0;
};

struct ReadCall {
  AttentionParams params;
  std::vector<Binding> bindings;  // addresses not loaded yet
};

// Fills *call. Refuses required arguments that are null, handles and list members that are not live
// (kNullPointer) and offsets that are no addresses (kTilingError). May throw std::bad_alloc.
Status ReadArguments(const Handles& handles, const Attributes& attributes, ReadCall* call);

}  // namespace fia::aclnn

#endif  // FIA_ACLNN_CALL_ARGUMENTS_H_
