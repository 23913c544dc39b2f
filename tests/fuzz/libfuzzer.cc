// The entry of libFuzzer: an input that makes the library misbehave ends the program.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz/run.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string fault = fia::testing::RunFuzzedCall(data, size, fia::testing::Guard::kNone);
  if (fault.empty()) return 0;
  std::fprintf(stderr, "%s\n", fault.c_str());
  std::abort();
}
