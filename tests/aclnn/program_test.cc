// Whole programs, as users write them.
#include <gtest/gtest.h>

#include "acl/acl.h"

int RunDocumentedProgram();
extern "C" int RunCProgram(void);

namespace {

TEST(Program, InCxx11RunsUnchanged) { EXPECT_EQ(RunDocumentedProgram(), 0) << aclGetRecentErrMsg(); }

TEST(Program, RunsAgainInTheSameProcess) { EXPECT_EQ(RunDocumentedProgram(), 0) << aclGetRecentErrMsg(); }

TEST(Program, InCRuns) { EXPECT_EQ(RunCProgram(), 0) << aclGetRecentErrMsg(); }

}  // namespace
