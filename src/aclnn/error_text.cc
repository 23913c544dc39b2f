#include "aclnn/error_text.h"

#include <algorithm>
#include <cstring>

#include "acl/acl_base.h"

namespace fia::aclnn {
namespace {

// A fixed buffer: nothing to allocate where an error is told, nothing to destroy when a thread ends.
constexpr std::size_t kTextSize = 1024;
thread_local char error_text[kTextSize] = "";

}  // namespace

std::int32_t Report(const Status& status) noexcept {
  const std::size_t length = status.ok() ? 0 : std::min(status.message.size(), kTextSize - 1);
  std::memcpy(error_text, status.message.data(), length);
  error_text[length] = '\0';
  return static_cast<std::int32_t>(status.code);
}

Status Refusal(StatusCode code, const char* parameter, const char* rule, const std::string& what) {
  return {code, parameter, rule, std::string(parameter) + ": " + what + " [" + rule + "]"};
}

}  // namespace fia::aclnn

extern "C" const char* aclGetRecentErrMsg(void) { return fia::aclnn::error_text; }
