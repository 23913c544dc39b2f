#!/usr/bin/env bash
# Builds and runs the programs of this folder the ways a user would:
#   run.sh package <build tree>   against an install tree that was moved, by find_package and by pkg-config;
#                                 also beside an Eigen and vector flags of their own
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

# compile_and_run <pkg-config package> <standard> <sources>
compile_and_run() {
  local flags
  read -ra flags <<<"$(pkg-config --cflags --libs "$1")"
  "$CXX" -std="$2" "${@:3}" "${flags[@]}" -o program
  ./program
}

case $1 in
  package)
    cmake --install "$2" --prefix "$scratch/first" >install.log
    mv first second
    # No consumer needs Eigen.
    build_and_run -DCMAKE_PREFIX_PATH="$scratch/second" -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON --no-warn-unused-cli

    PKG_CONFIG_PATH=$(dirname "$(find second -name fia.pc)")
    export PKG_CONFIG_PATH
    compile_and_run fia c++17 "$programs"/native.cc "$programs"/native_main.cc
    compile_and_run fia-aclnn c++11 "$programs"/device_program.cc

    # Unoptimised code keeps every inline function, for the linker to choose from.
    eigen=$(PKG_CONFIG_PATH='' pkg-config --cflags-only-I eigen3 | sed 's/^-I//; s/ *$//')
    choices=("-O0 -march=native" "-O0 -DEIGEN_DONT_VECTORIZE" "-O2 -march=native -DEIGEN_MAX_ALIGN_BYTES=16")
    for choice in "${choices[@]}"; do
      read -ra flags <<<"$choice"
      compile_and_run fia c++17 "${flags[@]}" -isystem "$eigen" "$programs"/native.cc "$programs"/eigen_program.cc
    done

    # The examples of the README print what they compute.
    for example in native:fia:0.5 aclnn:fia-aclnn:0.19995 "compare:fia:head 3, position 0"; do
      IFS=: read -r name package result <<<"$example"
      sed -n "/<!-- example: $name -->/,/^\`\`\`$/p" "$repository/README.md" | sed '1,2d;$d' >"$name.cc"
      compile_and_run "$package" c++17 "$name.cc" >"$name.out"
      cat "$name.out"
      grep -qF -- "$result" "$name.out"
    done
    ;;
  subdirectory)
    launcher=()
    if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
    kernels=()  # two sets are enough to see how sets share a shared library
    if [[ $(uname -m) == x86_64 ]]; then kernels=("-DFIA_KERNELS=baseline;avx2"); fi
    build_and_run -DFIA_SOURCE_DIR="$repository" -DBUILD_SHARED_LIBS=ON "${launcher[@]}" "${kernels[@]}"
    # A project that contains the library does not want its tests.
    if [[ -n $(find consumer -name 'fia_test_*') ]]; then echo "the tests were built" && exit 1; fi
    ;;
esac
