#!/usr/bin/env bash
# Sets up, builds and runs all tests: bash tests/run.sh [ctest arguments]
#   bash tests/run.sh -R attention        only the tests with that in their name
#   FIA_SANITIZE="address;undefined" bash tests/run.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/setup.sh

sanitize=${FIA_SANITIZE:-}
directory=build/test${sanitize:+-${sanitize//;/-}}
fia_install_packages
fia_build "$directory" all -DFIA_SANITIZE="$sanitize" -DFIA_EMULATE=OFF \
  -DFIA_BUILD_TESTS=ON -DFIA_BUILD_BENCH=ON
ctest --test-dir "$directory" --output-on-failure --no-tests=error --parallel "$(nproc)" "$@"
