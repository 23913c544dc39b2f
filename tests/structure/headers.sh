#!/usr/bin/env bash
# Every public header compiles by itself, without warnings, in all the languages promised: headers.sh <g++>
set -euo pipefail
readonly compiler=$1

failures=0
# compiles_alone <root> <header> <language> <standard>
compiles_alone() {
  local errors
  if ! errors=$("$compiler" -I "$1" -x "$3" -std="$4" -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only \
    - <<<"#include \"$2\"" 2>&1); then
    echo "$2 does not compile alone as $4:"
    head -10 <<<"$errors"
    failures=$((failures + 1))
  fi
}

count=0
while IFS= read -r header; do
  for standard in c++17 c++20; do compiles_alone include "$header" c++ $standard; done
  count=$((count + 1))
done < <(cd include && find fia -name '*.h')

while IFS= read -r header; do
  for standard in c++11 c++17 c++20; do compiles_alone include/aclnn_compat "$header" c++ $standard; done
  if [[ $header != aclnn/opdev/* ]]; then
    for standard in c99 c11; do compiles_alone include/aclnn_compat "$header" c $standard; done
  fi
  count=$((count + 1))
done < <(cd include/aclnn_compat && find . -name '*.h' -printf '%P\n')

echo "$count headers, $failures failures"
((count > 0 && failures == 0))
