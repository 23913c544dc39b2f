# What tests/run.sh and bench/run.sh share: the packages of a build, and the build. To be sourced.
# shellcheck shell=bash

# Debian package and the command or file that shows that it is there.
fia_packages=(
  "g++ g++"
  "cmake cmake"
  "ninja-build ninja"
  "pkg-config pkg-config"
  "libeigen3-dev /usr/include/eigen3/Eigen/Core"
  "libgtest-dev /usr/include/gtest/gtest.h"
  "libbenchmark-dev /usr/include/benchmark/benchmark.h"
)

# Installs what is missing when this is root on a Debian; else says how and fails.
fia_install_packages() {
  local entry package evidence missing=()
  for entry in "${fia_packages[@]}"; do
    read -r package evidence <<<"$entry"
    [[ -e $evidence ]] || command -v "$evidence" >/dev/null || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then return 0; fi
  if ! command -v apt-get >/dev/null; then
    echo "Missing: ${missing[*]} (Debian's names). Install them with this system's package manager." >&2
    return 1
  fi
  if ((EUID != 0)); then
    echo "Missing packages. Run: sudo apt-get update && sudo apt-get install -y ${missing[*]}" >&2
    return 1
  fi
  apt-get update -q </dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" </dev/null
}

# fia_build <build directory> <target> [cmake arguments]: configures and builds, Release unless told otherwise.
fia_build() {
  local directory=$1 target=$2
  shift 2
  local launcher=()
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  cmake -S . -B "$directory" -G Ninja -DCMAKE_BUILD_TYPE=Release "${launcher[@]}" "$@"
  cmake --build "$directory" --target "$target" --parallel "$(nproc)"
}
