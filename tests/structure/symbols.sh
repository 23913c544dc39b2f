#!/usr/bin/env bash
# What the libraries define: symbols.sh <nm> <g++> <libfia.a> <libfia_aclnn.a> {<isa> | <object of that isa>}...
#
# The linker keeps one copy of an inline function. If kernels built for AVX-512 shared one with the rest of
# the program, the copy kept could be an illegal instruction on another CPU, and no test on this CPU would
# notice. So everything a kernel object shows lies in namespaces of its instruction set.
set -euo pipefail
readonly nm=$1 compiler=$2 fia=$3 aclnn=$4
shift 4

# A mangled name that begins in one of the namespaces: vtables, guards, local entities and qualifiers come first.
readonly prefix='_Z(T[VIST]|GV|GR|Z)*N?[VKRO]*'
# Symbols of the C++ runtime that every object may have.
readonly runtime="(${prefix}(St|S[absiod]|9__gnu_cxx|10__cxxabiv1)|DW\.ref\.|_Z(St|dl|nw))"

failures=0
fail() {
  echo "$@"
  failures=$((failures + 1))
}

# defined <file>: "type name" of each symbol that other files can see.
defined() { "$nm" --extern-only --defined-only --no-sort "$1" 2>/dev/null | awk 'NF == 3 {print $2, $3}'; }

# foreign <isa> <object>: visible symbols outside the namespaces of the instruction set.
foreign() {
  local isa_name="isa_$1" eigen_name="eig_$1"
  defined "$2" | grep -vE "^. ${prefix}3fia(${#isa_name}${isa_name}|${#eigen_name}${eigen_name})" || true
}

# Kernels neither allocate nor throw, print or stop the program: all they need are these.
readonly needed="^(mem(cpy|move|set|cmp)|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|[a-z0-9]+f?|_ZN3fia.*)$"
readonly banned="^(_Zn[wa].*|_Zd[la].*|malloc|calloc|realloc|free|posix_memalign|aligned_alloc|abort|exit|printf|puts|.*assert.*)$"

audit_kernels() {
  local isa=$1 object=$2 symbols
  symbols=$(foreign "$isa" "$object")
  if [[ -n $symbols ]]; then fail "$object shows symbols outside $isa's namespaces:"$'\n'"$symbols"; fi
  symbols=$("$nm" --undefined-only "$object" | awk '{print $NF}' | grep -E "$banned" || true)
  symbols+=$("$nm" --undefined-only "$object" | awk '{print $NF}' | grep -vE "$needed" || true)
  if [[ -n $symbols ]]; then fail "$object needs more than kernels may:"$'\n'"$symbols"; fi
  # Code that runs before main would run on every CPU.
  if "$nm" "$object" | grep -q '_GLOBAL__sub_I'; then fail "$object has a static initialiser"; fi
}

# The audit finds an inline function outside the namespaces, and only that.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/leak.cc" <<'EOF'
namespace fia {
inline __attribute__((noinline)) int Leak(int x) { return x + 1; }
namespace isa_test {
inline __attribute__((noinline)) int Kept(int x) { return x + 2; }
int Strong(int x) { return Leak(x) + Kept(x); }
}  // namespace isa_test
}  // namespace fia
EOF
"$compiler" -O2 -c "$scratch/leak.cc" -o "$scratch/leak.o"
if [[ $(foreign test "$scratch/leak.o") != "W _ZN3fia4LeakEi" ]]; then fail "the audit itself is broken"; fi

isa=
audited=0
for argument in "$@"; do
  if [[ $argument != *.o ]]; then
    isa=$argument
  else
    audit_kernels "$isa" "$argument"
    audited=$((audited + 1))
  fi
done
if ((audited == 0)); then fail "no kernel objects were given"; fi

# audit_library <file> <names of strong symbols>: weak symbols may be the C++ runtime's as well.
audit_library() {
  local symbols
  symbols=$(defined "$1" | grep -E '^[A-TX-Z] ' | grep -vE "^. $2" || true)
  symbols+=$(defined "$1" | grep -E '^[UVWu] ' | grep -vE "^. ($2|$runtime)" || true)
  if [[ -n $symbols ]]; then fail "$(basename "$1") defines more than it may:"$'\n'"$symbols"; fi
}
audit_library "$fia" "${prefix}3fia"
audit_library "$aclnn" "(${prefix}(3fia|[0-9]+acl)|acl|(mem|str|s(n|nw|w)?printf|vs)[a-z]*_s$)"

echo "$audited kernel objects audited, $failures failures"
((failures == 0))
