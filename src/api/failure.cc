#include "api/failure.h"

#include <exception>
#include <new>
#include <stdexcept>

namespace fia {
namespace {

// Texts may not fit into memory now: the code always does.
Status ShortFailure(StatusCode code, const char* rule, const char* message) noexcept {
  Status status;
  status.code = code;
  try {
    status.rule = rule;
    status.message = message;
  } catch (const std::bad_alloc&) {
    status.message.clear();
  }
  return status;
}

}  // namespace

Status Failure(StatusCode code, const char* parameter, const char* rule, const std::string& message) {
  return {code, parameter, rule, message + " [" + rule + "]"};
}

Status CaughtFailure(StatusCode code) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return ShortFailure(code, "memory", "there is no memory for the call's plan or texts [memory]");
  } catch (const std::length_error&) {
    return ShortFailure(code, "memory", "the call's plan is larger than any memory [memory]");
  } catch (...) {
    return ShortFailure(code, "internal", "the library failed where it should not [internal]");
  }
}

}  // namespace fia
