// The thirteen layouts as a table: which axis of a tensor is which.
#ifndef FIA_CORE_LAYOUT_H_
#define FIA_CORE_LAYOUT_H_

#include <cstdint>
#include <string_view>

#include "fia/tensor.h"

namespace fia {

// The order of a tensor's axes. B batch, S position, T token of all sequences, N head, D dim, H = N * D in
// one axis.
enum class Form : std::int32_t { kBsh, kBsnd, kBnsd, kNbsd, kTnd, kNtd };

// Axis numbers in a form; -1: the form has no such axis. `token` is S or T. In BSH, head is -1 and dim is the
// H axis.
struct FormAxes {
  int rank;
  int batch;
  int token;
  int head;
  int dim;
};

struct Layout {
  std::string_view name;
  Form input;   // query, key, value
  Form output;  // attentionOut
  bool packed;  // token axis counts all sequences
};

inline FormAxes AxesOf(Form form) noexcept {
  switch (form) {
    case Form::kBsh:
      return {3, 0, 1, -1, 2};
    case Form::kBsnd:
      return {4, 0, 1, 2, 3};
    case Form::kBnsd:
      return {4, 0, 2, 1, 3};
    case Form::kNbsd:
      return {4, 1, 2, 0, 3};
    case Form::kTnd:
      return {3, -1, 0, 1, 2};
    case Form::kNtd:
      break;
  }
  return {3, -1, 1, 0, 2};
}

// All layouts, for messages and tests.
inline constexpr Layout kLayouts[13] = {
    {"BSH", Form::kBsh, Form::kBsh, false},         {"BSND", Form::kBsnd, Form::kBsnd, false},
    {"BNSD", Form::kBnsd, Form::kBnsd, false},      {"BSH_BNSD", Form::kBsh, Form::kBnsd, false},
    {"BSND_BNSD", Form::kBsnd, Form::kBnsd, false}, {"BNSD_BSND", Form::kBnsd, Form::kBsnd, false},
    {"BSH_NBSD", Form::kBsh, Form::kNbsd, false},   {"BSND_NBSD", Form::kBsnd, Form::kNbsd, false},
    {"BNSD_NBSD", Form::kBnsd, Form::kNbsd, false}, {"TND", Form::kTnd, Form::kTnd, true},
    {"NTD", Form::kNtd, Form::kNtd, true},          {"NTD_TND", Form::kNtd, Form::kTnd, true},
    {"TND_NTD", Form::kTnd, Form::kNtd, true}};

// The layout of that name, null if there is none.
inline const Layout* FindLayout(std::string_view name) noexcept {
  for (const Layout& layout : kLayouts) {
    if (layout.name == name) return &layout;
  }
  return nullptr;
}

}  // namespace fia

#endif  // FIA_CORE_LAYOUT_H_
