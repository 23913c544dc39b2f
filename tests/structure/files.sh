#!/usr/bin/env bash
# Files are short, and finished: no leftovers, no machine's paths.
set -euo pipefail

readonly max_lines=400
# The patterns are split by brackets and escapes so that they do not find themselves.
readonly leftovers='\bT[O]DO\b|\bF[I]XME\b|\bX[X]X\b|for[ ]now\b|place[h]older|\.\./sha[r]ed|\b(sp[e]c|des[i]gn|ca[s]es)\.md|'$'\302\247''|(^|[^a-z.])/(wo[r]k|ho[m]e|ro[o]t)/'
if ! echo "// T""ODO" | grep -qE "$leftovers"; then echo "the check itself is broken" && exit 1; fi

failures=0
count=0
while IFS= read -r file; do
  count=$((count + 1))
  lines=$(wc -l <"$file")
  if ((lines > max_lines)); then
    echo "$file: $lines lines, more than $max_lines"
    failures=$((failures + 1))
  fi
  if grep -HniE "$leftovers" "$file"; then failures=$((failures + 1)); fi
done < <(find CMakeLists.txt README.md .ci .clang-tidy include src tests bench -type f)

echo "$count files, $failures to mend"
((count > 0 && failures == 0))
