#include "reference/reference.h"

#include <exception>
#include <string>

#include "reference/row.h"
#include "reference/shape.h"
#include "reference/storage.h"

namespace fia {
namespace reference {
namespace {

Status Refuse(StatusCode code, const char* parameter, const char* rule, const char* message) {
  Status status;
  status.code = code;
  status.parameter = parameter;
  status.rule = rule;
  status.message = std::string(parameter) + ": " + message + " [" + rule + "]";
  return status;
}

std::vector<RowIndex> AllRows(const CallShape& shape) {
  std::vector<RowIndex> rows;
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t n = 0; n < shape.heads; ++n) {
      for (std::int64_t position = 0; position < shape.RowCount(b); ++position)
        rows.push_back({b, n, position});
    }
  }
  return rows;
}

bool Exists(const CallShape& shape, const RowIndex& row) noexcept {
  return row.sequence >= 0 && row.sequence < shape.batch && row.head >= 0 && row.head < shape.heads &&
         row.position >= 0 && row.position < shape.RowCount(row.sequence);
}

}  // namespace

Status ComputeAccepted(const AttentionParams& params, const std::vector<RowIndex>* rows,
                       ReferenceResult* result) {
  *result = ReferenceResult();
  CallShape shape;
  if (!ReadShape(params, &shape))
    return Refuse(StatusCode::kTilingError, "inputLayout", "layout", "does not fit the tensors");
  if (shape.fill_only) {
    result->fill_only = true;
    return Status();
  }
  Status status = CheckStorage(params, shape);
  if (!status.ok()) return status;
  ReadPadding(params, &shape);
  const std::vector<RowIndex> chosen = rows != nullptr ? *rows : AllRows(shape);
  RowComputer computer(params, shape);
  const std::size_t dims = static_cast<std::size_t>(shape.value_dim);
  result->value_dim = shape.value_dim;
  result->rows.resize(chosen.size());
  for (std::size_t r = 0; r < chosen.size(); ++r) {
    if (!Exists(shape, chosen[r])) {
      *result = ReferenceResult();
      return Refuse(StatusCode::kRuntimeError, "rows", "rows", "a row lies outside the output");
    }
    ReferenceRow& row = result->rows[r];
    row.index = chosen[r];
    row.out.resize(dims);
    row.out_low.resize(dims);
    row.out_high.resize(dims);
    computer.Compute(&row);
  }
  return Status();
}

}  // namespace reference

Status ComputeReference(const AttentionParams& params, const std::vector<RowIndex>* rows,
                        ReferenceResult* result) noexcept try {
  if (result == nullptr)
    return reference::Refuse(StatusCode::kNullPointer, "result", "null", "the pointer is null");
  *result = ReferenceResult();
  Executor executor;
  std::uint64_t size = 0;
  const Status status = GetWorkspaceSize(params, &size, &executor);
  return status.ok() ? reference::ComputeAccepted(params, rows, result) : status;
} catch (const std::exception&) {  // memory: nothing else throws
  Status status;
  status.code = StatusCode::kTilingError;
  status.rule = "memory";
  return status;
}

}  // namespace fia
