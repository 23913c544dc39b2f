#!/usr/bin/env bash
# Builds and runs the programs of this folder the ways a user would:
#   run.sh package <build tree>   against an install tree that was moved, by find_package and by pkg-config
#   run.sh subdirectory           as part of another project's build, with shared libraries
# The compiler is $CXX.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly repository programs=$repository/tests/consumers
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# build_and_run <cmake arguments>
build_and_run() {
  cmake -S "$programs" -B consumer -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$CXX" "$@" >configure.log ||
    { cat configure.log && return 1; }
  cmake --build consumer
  consumer/native
  consumer/device_program
  consumer/host consumer/libplugin.so
  # The library inside a plugin is the plugin's own affair.
  if nm -D --defined-only consumer/libplugin.so | grep 3fia; then echo "the plugin shows the library" && return 1; fi
}

case $1 in
  package)
    cmake --install "$2" --prefix "$scratch/first" >install.log
    mv first second
    # No consumer needs Eigen.
    build_and_run -DCMAKE_PREFIX_PATH="$scratch/second" -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON

    PKG_CONFIG_PATH=$(dirname "$(find second -name fia.pc)")
    export PKG_CONFIG_PATH
    read -ra flags <<<"$(pkg-config --cflags --libs fia)"
    "$CXX" -std=c++17 "$programs"/native.cc "$programs"/native_main.cc "${flags[@]}" -o native && ./native
    read -ra flags <<<"$(pkg-config --cflags --libs fia_aclnn)"
    "$CXX" -std=c++11 "$programs"/device_program.cc "${flags[@]}" -o device_program && ./device_program
    ;;
  subdirectory)
    launcher=()
    if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
    build_and_run -DFIA_SOURCE_DIR="$repository" -DBUILD_SHARED_LIBS=ON "${launcher[@]}"
    # A project that contains the library does not want its tests.
    if [[ -n $(find consumer -name 'fia_test_*') ]]; then echo "the tests were built" && exit 1; fi
    ;;
esac
