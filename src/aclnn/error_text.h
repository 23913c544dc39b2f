// Why the thread's latest phase failed.
#ifndef FIA_ACLNN_ERROR_TEXT_H_
#define FIA_ACLNN_ERROR_TEXT_H_

#include "fia/status.h"

namespace fia::aclnn {

// Keeps the status's message as the calling thread's error text (empty when it is ok) and returns its code.
std::int32_t Report(const Status& status) noexcept;

// A refusal by the C interface itself. May throw std::bad_alloc.
Status Refusal(StatusCode code, const char* parameter, const char* rule, const std::string& what);

}  // namespace fia::aclnn

#endif  // FIA_ACLNN_ERROR_TEXT_H_
