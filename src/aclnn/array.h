// What aclTensorList, the arrays and aclScalar stand for.
#ifndef FIA_ACLNN_ARRAY_H_
#define FIA_ACLNN_ARRAY_H_

#include <array>
#include <cstdint>
#include <vector>

#include "aclnn/handle_table.h"
#include "fia/tensor.h"

namespace fia::aclnn {

// Members are handles, looked up at each use: a tensor may be in several lists and may be destroyed before
// them.
struct TensorList {
  std::vector<const void*> members;
};

struct IntArray {
  std::vector<std::int64_t> values;
};

struct FloatArray {
  std::vector<float> values;
};

struct BoolArray {
  std::vector<bool> values;
};

struct Scalar {
  std::array<unsigned char, 16> bytes = {};
  DataType dtype = DataType::kUndefined;
};

}  // namespace fia::aclnn

#endif  // FIA_ACLNN_ARRAY_H_
