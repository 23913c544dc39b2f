// The statuses that the entry points make themselves.
#ifndef FIA_API_FAILURE_H_
#define FIA_API_FAILURE_H_

#include <string>

#include "fia/status.h"

namespace fia {

// `message` gets the rule's name appended.
Status Failure(StatusCode code, const char* parameter, const char* rule, const std::string& message);

// What to return from a catch (...) block: rule "memory" when memory ran out, else "internal".
Status CaughtFailure(StatusCode code) noexcept;

}  // namespace fia

#endif  // FIA_API_FAILURE_H_
