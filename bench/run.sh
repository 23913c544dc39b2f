#!/usr/bin/env bash
# Sets up, builds and runs the benchmark program: bash bench/run.sh [arguments of the program]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/setup.sh

fia_install_packages
fia_build build/bench fia_bench -DFIA_BUILD_TESTS=OFF -DFIA_BUILD_BENCH=ON
cd build/bench
exec ./bench/fia_bench "$@"
