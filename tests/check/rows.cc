#include "check/rows.h"

#include <gtest/gtest.h>

#include "check/check.h"

namespace fia::testing {
namespace {

void ExpectAccepted(const AttentionParams& params, Check level) {
  const Status status = RulesSay(params, level);
  EXPECT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(status.parameter + status.rule + status.message, "");
}

void ExpectRefused(const AttentionParams& params, Check level, const Row& row) {
  const Status status = RulesSay(params, level);
  EXPECT_EQ(status.code, row.code) << status.message;
  EXPECT_EQ(status.parameter, row.parameter) << status.message;
  EXPECT_EQ(status.rule, row.rule) << status.message;
  std::vector<std::string> told = row.told;
  told.push_back(row.parameter);
  told.push_back(std::string("[").append(row.rule) + "]");
  for (const std::string& word : told) {
    EXPECT_NE(status.message.find(word), std::string::npos) << "no " << word << " in: " << status.message;
  }
  EXPECT_EQ(status.message.find('\n'), std::string::npos);
}

void CheckRow(const AttentionParams& base, const Row& row, Check level) {
  SCOPED_TRACE(std::string(row.name) + (level == Check::kStrict ? ", strict" : ", relaxed"));
  AttentionParams params = base;
  row.change(params);
  const bool accepted = row.outcome == Outcome::kAccepted ||
                        (row.outcome == Outcome::kRefusedStrict && level == Check::kRelaxed);
  if (accepted) {
    ExpectAccepted(params, level);
  } else {
    ExpectRefused(params, level, row);
  }
}

}  // namespace

Status RulesSay(AttentionParams params, Check level) {
  params.execution.check = level;
  Call call;
  return CheckCall(params, &call);
}

void CheckRows(const AttentionParams& base, const std::vector<Row>& rows) {
  const Row as_it_is = Accepted("the call as it is", [](AttentionParams&) {});
  for (const Check level : {Check::kStrict, Check::kRelaxed}) {
    CheckRow(base, as_it_is, level);
    for (const Row& row : rows) CheckRow(base, row, level);
  }
}

void CheckRelaxedRows(const AttentionParams& base, const std::vector<Row>& rows) {
  CheckRow(base, Accepted("the call as it is", [](AttentionParams&) {}), Check::kRelaxed);
  for (const Row& row : rows) CheckRow(base, row, Check::kRelaxed);
}

}  // namespace fia::testing
