// Tables of changes to an accepted call, each with what the rules say about it.
#ifndef FIA_TESTS_CHECK_ROWS_H_
#define FIA_TESTS_CHECK_ROWS_H_

#include <functional>
#include <string>
#include <vector>

#include "fia/attention.h"

namespace fia::testing {

enum class Outcome {
  kAccepted,       // at both levels
  kRefused,        // at both levels
  kRefusedStrict,  // and accepted in relaxed
};

struct Row {
  const char* name;
  std::function<void(AttentionParams&)> change;
  Outcome outcome = Outcome::kAccepted;
  const char* parameter = "";  // refused: Status::parameter, and in the message
  const char* rule = "";
  std::vector<std::string> told = {};  // further words of the message
  StatusCode code = StatusCode::kTilingError;
};

using Change = std::function<void(AttentionParams&)>;

inline Row Accepted(const char* name, Change change) { return {name, std::move(change)}; }

inline Row Refused(const char* name, Change change, const char* parameter, const char* rule,
                   std::vector<std::string> told = {}) {
  return {name, std::move(change), Outcome::kRefused, parameter, rule, std::move(told)};
}

inline Row Strict(const char* name, Change change, const char* parameter, const char* rule,
                  std::vector<std::string> told = {}) {
  return {name, std::move(change), Outcome::kRefusedStrict, parameter, rule, std::move(told)};
}

// Refused with another code than the usual one.
inline Row RefusedAs(StatusCode code, const char* name, Change change, const char* parameter,
                     const char* rule) {
  return {name, std::move(change), Outcome::kRefused, parameter, rule, {}, code};
}

// Applies each row to a copy of `base`, which is accepted at both levels, and checks it at both.
void CheckRows(const AttentionParams& base, const std::vector<Row>& rows);

// The same for a base that only relaxed checking accepts: rows are checked in relaxed alone.
void CheckRelaxedRows(const AttentionParams& base, const std::vector<Row>& rows);

// The status of all rules at one level.
Status RulesSay(AttentionParams params, Check level);

}  // namespace fia::testing

#endif  // FIA_TESTS_CHECK_ROWS_H_
