#!/usr/bin/env bash
# Runs the quick tests on processors that are not there, under qemu: bash tests/emulate.sh [x86-64|aarch64]...
#   x86-64    baseline on a Nehalem and AVX2 on a Haswell, from the build tree of tests/run.sh
#   aarch64   a cross build, as the README shows it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/setup.sh

fia_packages+=("qemu-user qemu-x86_64")
machines=("$@")
if (($# == 0)); then machines=(x86-64 aarch64); fi
# The emulator starts no program anew and has no threads after a fork.
export GTEST_FILTER="-*DeathTest*:*ForkTest*"
for machine in "${machines[@]}"; do
  case $machine in
    x86-64)
      fia_install_packages
      fia_build build/test all -DFIA_EMULATE=ON -DFIA_BUILD_TESTS=ON -DFIA_BUILD_BENCH=ON
      ctest --test-dir build/test -L emulated --output-on-failure --no-tests=error --parallel "$(nproc)"
      ;;
    aarch64)
      fia_packages+=("g++-aarch64-linux-gnu aarch64-linux-gnu-g++" "googletest /usr/src/googletest/CMakeLists.txt")
      fia_install_packages
      fia_build build/aarch64 all --toolchain src/package/aarch64-linux-gnu.cmake -DFIA_BUILD_TESTS=ON \
        -DFIA_BUILD_BENCH=OFF
      ctest --test-dir build/aarch64 -L quick --output-on-failure --no-tests=error --parallel "$(nproc)"
      ;;
    *)
      echo "unknown machine: $machine" >&2
      exit 2
      ;;
  esac
done
