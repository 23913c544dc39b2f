// Accepted calls with a quantised cache, and changes to them.
#ifndef FIA_TESTS_CHECK_ANTIQUANT_CALLS_H_
#define FIA_TESTS_CHECK_ANTIQUANT_CALLS_H_

#include <string>
#include <utility>
#include <vector>

#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {

// Per-tensor separate scales, mode 0.
inline void AddScales(AttentionParams* params) {
  const DataType dtype = params->query.dtype;
  Antiquant(*params).key_scale = Antiquant(*params).value_scale = View(dtype, {1});
}

inline AttentionParams Quantised(const Sizes& sizes, DataType dtype = kByte) {
  AttentionParams params = Plain(sizes);
  params.key[0].dtype = params.value[0].dtype = dtype;
  AddScales(&params);
  return params;
}

// Both scales of one mode and shape.
inline Change Scales(std::int64_t mode, const TensorView& view) {
  return [=](AttentionParams& p) {
    Antiquant(p) = KvAntiquant{.key_scale = view, .value_scale = view, .key_mode = mode, .value_mode = mode};
  };
}

inline Change Combined(std::int64_t mode, const TensorView& view) {
  return [=](AttentionParams& p) { Antiquant(p) = KvAntiquant{.scale = view, .mode = mode}; };
}

inline Change Modes(std::int64_t key, std::int64_t value) {
  return [=](AttentionParams& p) {
    Antiquant(p).key_mode = key;
    Antiquant(p).value_mode = value;
  };
}

// Key per tensor, value per token.
inline void Mixed(AttentionParams& p) {
  Antiquant(p) = KvAntiquant{.key_scale = View(p.query.dtype, {1}),
                             .value_scale = View(kSingle, {2, 16}),
                             .key_mode = 0,
                             .value_mode = 1};
}

inline Row Wrong(const char* name, Change change, const char* parameter, std::vector<std::string> told = {}) {
  return Refused(name, std::move(change), parameter, "antiquant", std::move(told));
}

inline Row WrongStrict(const char* name, Change change, const char* parameter,
                       std::vector<std::string> told = {}) {
  return Strict(name, std::move(change), parameter, "antiquant", std::move(told));
}

inline constexpr Sizes kOne{.queries = 1};  // B 2, Nk 2, D 128, KV_S 16

}  // namespace fia::testing

#endif  // FIA_TESTS_CHECK_ANTIQUANT_CALLS_H_
