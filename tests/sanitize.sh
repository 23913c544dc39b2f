#!/usr/bin/env bash
# Builds and runs the quick tests under sanitizers: bash tests/sanitize.sh ["address;undefined"|thread]...
# The whole suite under one: FIA_SANITIZE="address;undefined" bash tests/run.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/setup.sh

# One instruction set is enough: what sanitizers find in one they find in all, but for the width of vectors. The
# one with bfloat16 products has all bodies.
kernels=
if grep -qw avx2 /proc/cpuinfo; then kernels=avx2; fi
if grep -qw avx512_bf16 /proc/cpuinfo; then kernels=avx512bf16; fi
sanitizers=("$@")
if (($# == 0)); then sanitizers=("address;undefined" thread); fi
fia_install_packages
for sanitize in "${sanitizers[@]}"; do
  directory=build/quick-${sanitize//;/-}
  target=all label=quick
  if [[ $sanitize == thread ]]; then target=fia_thread_tests label=threads; fi
  fia_build "$directory" "$target" -DFIA_SANITIZE="$sanitize" -DFIA_KERNELS="$kernels" \
    -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" -DFIA_BUILD_TESTS=ON -DFIA_BUILD_BENCH=OFF
  ctest --test-dir "$directory" -L quick -L "$label" --output-on-failure --no-tests=error --parallel "$(nproc)"
done
