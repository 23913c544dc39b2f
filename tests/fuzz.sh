#!/usr/bin/env bash
# Fuzzes both phases under AddressSanitizer and UndefinedBehaviorSanitizer: bash tests/fuzz.sh [seconds]
#   build/fuzz/corpus keeps what it has learned, build/fuzz/found the inputs that fail; to replay one:
#   build/fuzz/tests/fia_fuzz build/fuzz/found/<name>
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/setup.sh

seconds=${1:-600}
directory=build/fuzz
clang=$(command -v clang++ || command -v clang++-14) || { echo "Needs clang++ 14 or newer, with libFuzzer" >&2 && exit 1; }
fia_install_packages
fia_build "$directory" fia_fuzz -DCMAKE_CXX_COMPILER="$clang" -DFIA_BUILD_FUZZ=ON -DFIA_SANITIZE="address;undefined" \
  -DFIA_BUILD_TESTS=ON -DFIA_BUILD_BENCH=OFF
mkdir -p "$directory/corpus" "$directory/found"
"$directory/tests/fia_fuzz" -max_total_time="$seconds" -max_len=400 -timeout=60 -rss_limit_mb=4096 \
  -artifact_prefix="$directory/found/" "$directory/corpus"
