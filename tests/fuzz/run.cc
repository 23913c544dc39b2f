#include "fuzz/run.h"

#include "fia/runtime.h"

namespace fia::testing {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr bool kRacesAreFaults = true;
#else
constexpr bool kRacesAreFaults = false;
#endif

// Where arguments overlap an output, one worker reads what another writes: the caller's race, which
// ThreadSanitizer may not blame on the library. While this lives, both interfaces compute such a call on one
// thread.
class RaceGuard {
 public:
  explicit RaceGuard(FuzzCall* call) : active_(kRacesAreFaults && call->overlapping()) {
    if (!active_) return;
    call->UseOneThread();
    SetNumThreads(1);
  }
  RaceGuard(const RaceGuard&) = delete;
  RaceGuard& operator=(const RaceGuard&) = delete;
  ~RaceGuard() {
    if (active_) SetNumThreads(0);
  }

 private:
  bool active_;
};

constexpr std::size_t kLongestMessage = 1000;

bool IsCodeOf(StatusCode code, int phase) {
  if (phase == 2) return code == StatusCode::kRuntimeError;
  return code == StatusCode::kNullPointer || code == StatusCode::kInvalidParameter ||
         code == StatusCode::kTilingError;
}

// Layouts that a C string cannot say, or that its reader cuts.
bool SaysLayout(const AttentionParams& params) {
  return params.heads.layout.find('\0') == std::string::npos && params.heads.layout.size() < 32;
}

}  // namespace

std::string FaultOf(StatusCode code, const std::string& message, int phase) {
  if (code == StatusCode::kOk) return message.empty() ? "" : "a success has a message: " + message;
  if (!IsCodeOf(code, phase))
    return "code " + std::to_string(static_cast<int>(code)) + " in phase " + std::to_string(phase);
  if (message.empty() || message.find('\n') != std::string::npos || message.size() > kLongestMessage)
    return "message: \"" + message + "\"";
  return "";
}

Workspace ChooseWorkspace(Cursor* cursor, std::uint64_t needed, Guard guard) {
  Workspace workspace;
  const std::int64_t choice = cursor->Below(24);
  const std::uint8_t fill = cursor->Byte();
  const auto make = [&workspace, guard, fill](std::uint64_t size, std::uint64_t skip) {
    workspace.memory = Memory(static_cast<std::size_t>(size + skip), guard, fill);
    workspace.data = workspace.memory.data() + skip;
    workspace.size = size;
  };
  switch (choice) {
    case 0:
      workspace.size = needed;
      workspace.enough = needed == 0;
      return workspace;
    case 1:
      make(needed - (needed > 0 ? 1 : 0), 0);
      workspace.enough = needed == 0;
      return workspace;
    case 2:
      make(needed, 0);
      workspace.size = 0;
      workspace.enough = needed == 0;
      return workspace;
    case 3:
      make(needed + 100, 0);
      return workspace;
    default:
      make(needed, static_cast<std::uint64_t>(choice < 14 ? 0 : choice - 13));
      return workspace;
  }
}

std::string RunFuzzedCall(const std::uint8_t* data, std::size_t size, Guard guard) {
  Cursor cursor(data, size);
  const std::int64_t interfaces = cursor.Below(4);
  FuzzCall call(&cursor, guard);
  const RaceGuard race_guard(&call);
  if (interfaces == 0) return RunNative(&call, &cursor).fault;
  if (interfaces == 1) return RunOperator(&call, &cursor).fault;
  const FuzzCall::Snapshot before = call.Take();
  const Outcome native = RunNative(&call, &cursor);
  if (!native.fault.empty()) return native.fault;
  call.Restore(before);
  const Outcome c = RunOperator(&call, &cursor);
  if (!c.fault.empty()) return c.fault;
  if (!native.faithful || !c.faithful || !SaysLayout(call.params())) return "";
  if (native.phase_one != c.phase_one)
    return "the native interface says " + std::to_string(static_cast<int>(native.phase_one)) +
           ", the operator's " + std::to_string(static_cast<int>(c.phase_one));
  const bool both = !native.output.empty() && !c.output.empty() && !call.overlapping();
  return both && native.output != c.output ? "the interfaces give different bits" : "";
}

}  // namespace fia::testing
