// The steps of building a call: each makes some tensors, fills them and puts their views into the parameters.
#ifndef FIA_TESTS_SUPPORT_CALL_PARTS_H_
#define FIA_TESTS_SUPPORT_CALL_PARTS_H_

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "fia/attention.h"
#include "support/call_geometry.h"
#include "support/call_memory.h"
#include "support/call_spec.h"

namespace fia::testing {

// Everything a call owns.
struct CallTensors {
  std::deque<OwnedTensor> inputs;
  OwnedTensor out;
  OwnedTensor lse;
  std::int64_t blocks = 0;                      // paged: blocks of the cache
  std::vector<std::vector<std::int64_t>> used;  // [B] paged: the sequence's blocks in order

  TensorView Keep(OwnedTensor tensor) {
    inputs.push_back(std::move(tensor));
    return inputs.back().view;
  }
};

struct CallParts {
  const CallSpec& spec;
  const CallGeometry& geometry;
  CallTensors* tensors;
  AttentionParams* params;

  std::uint8_t fill() const { return static_cast<std::uint8_t>(spec.fill); }
  // Whose numbers a key of sequence b at position j (prefix first) has.
  std::int64_t KeyId(std::int64_t b, std::int64_t j) const {
    if (j < geometry.prefix || j < spec.common_tokens) return -1;
    return spec.id(spec.kv_view == ViewForm::kBroadcast && !spec.is_paged() ? 0 : b);
  }
  std::int64_t HeadId(std::int64_t n) const {
    return spec.head_ids.empty() ? n : spec.head_ids[static_cast<std::size_t>(n)];
  }
  std::int64_t KvHeadId(std::int64_t n) const {
    return spec.kv_head_ids.empty() ? n : spec.kv_head_ids[static_cast<std::size_t>(n)];
  }
  // An input tensor in memory as `spec` wants it; view stays as made.
  TensorView Make(const std::vector<std::int64_t>& dims, DataType dtype, ViewForm form,
                  int broadcast_axis = -1) const {
    return tensors->Keep(MakeTensor(dims, dtype, form, spec.guard, fill(), broadcast_axis));
  }
};

void BuildCache(const CallParts& parts);  // key, value, keyRope, block table, prefix
void BuildMask(const CallParts& parts);   // attenMask
void BuildBias(const CallParts& parts);   // pseShift, learnableSink
void BuildQuantisation(const CallParts& parts);

}  // namespace fia::testing

#endif  // FIA_TESTS_SUPPORT_CALL_PARTS_H_
