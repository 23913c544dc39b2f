#!/usr/bin/env bash
# Who may include what. Each folder of the library names the folders whose headers it may include, and may
# include headers of the standard library and the system.
set -euo pipefail

# folder: allowed first parts of project includes.
readonly rules=(
  "include/fia: fia"
  "include/aclnn_compat: acl aclnn aclnnop securec.h"
  "src/aclnn: aclnn acl aclnnop securec.h fia api"
  "src/api: api fia check describe plan exec core cpu"
  "src/check: check fia core kernels cpu"
  "src/describe: describe fia core kernels cpu"
  "src/plan: plan fia core kernels cpu"
  "src/exec: exec fia core kernels cpu"
  "src/cpu: cpu fia core kernels"
  "src/kernels: kernels fia core Eigen"
  "src/core: core fia"
  "src/reference: reference fia"
)

# Prints each include of `folder` that the list of allowed first parts does not cover.
violations() {
  local folder=$1 allowed=" $2 " file name
  while IFS=: read -r file name; do
    # <vector>, <pthread.h> and <sys/mman.h> are the system's; all else belongs to the project or to Eigen.
    if [[ $name == '<'* && ($name != */* || $name == '<sys/'*) ]]; then continue; fi
    name=${name//[<>\"]/}
    [[ $allowed == *" ${name%%/*} "* ]] || echo "$file includes $name"
  done < <(grep -rHoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"][^>"]+[>"]' --include='*.h' --include='*.cc' \
             "$folder" | sed -E 's/:[^<"]*/:/')
}

# The check finds what it is there for.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '#include <vector>\n#include "fia/status.h"\n  #  include <Eigen/Core>\n#include "plan/plan.h"\n' >"$scratch/a.cc"
if [[ $(violations "$scratch" fia | wc -l) != 2 ]]; then
  echo "the check itself is broken" && exit 1
fi

found=$(for rule in "${rules[@]}"; do violations "${rule%%:*}" "${rule#*: }"; done)
# A folder without a rule would go unchecked.
for folder in src/*/ include/*/; do
  folder=${folder%/}
  if [[ $folder != src/package && " ${rules[*]} " != *" $folder: "* ]]; then
    found+="no rule for $folder"$'\n'
  fi
done
if [[ -n $found ]]; then echo "$found" && exit 1; fi
