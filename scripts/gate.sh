#!/usr/bin/env bash
# gate.sh filter test|check|nightly: prints the tests of a command as an expression of nextest.
# gate.sh list: writes tests/gates/tests.tsv, which names every test with its commands. Each expression must name one.
# gate.sh verify: fails where that list differs from the tests that there are.
# tests/gates/check and tests/gates/nightly say which tests are in these commands, and why; every other one is in `make
# test`. tests/gates/long names those that do more in `make nightly` than in their own command.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

LIST=tests/gates/tests.tsv

# lines FILE: the expressions of a file.
lines() { grep -vE '^(#|$)' "tests/gates/$1"; }

# union FILE: all of them as one. The names are of the integration tests; unit tests of crates are quick.
union() { echo "binary_id(=jackpot::it) & ($(lines "$1" | paste -sd+))"; }

filter() {
  local check nightly
  check=$(union check) nightly=$(union nightly)
  case "$1" in
    test) echo "not (($check) + ($nightly))" ;;
    check) echo "($check) - ($nightly)" ;;
    nightly) echo "($nightly) + $(lines long | paste -sd+)" ;;
    *) die "usage: scripts/gate.sh filter test|check|nightly" ;;
  esac
}

# in_gate GATE: its tests, a line for each: binary, name, GATE.
in_gate() { matching "$(filter "$1")" "$1"; }

# matching EXPRESSION WORD: a line for each test that it names: binary, name, WORD.
matching() {
  cargo nextest list --cargo-quiet --workspace --message-format json --filterset "$1" |
    python3 -c '
import json, sys
for suite in json.load(sys.stdin)["rust-suites"].values():
    for name, test in suite["testcases"].items():
        if test["filter-match"]["status"] == "matches":
            print(suite["binary-id"], name, sys.argv[1], sep="\t")' "$2"
}

# An expression that names no test any more moves what it named into `make test`, unseen.
each_names_a_test() {
  local file line
  for file in check nightly long; do
    while read -r line; do
      [[ -n $(matching "$line" x) ]] || die "tests/gates/$file: no test fits $line"
    done < <(lines "$file")
  done
}

# Every test in a line, with the commands it is in.
listed() {
  local gate
  for gate in test check nightly; do in_gate "$gate" || return 1; done | sort -s -t $'\t' -k 1,2 |
    awk -F '\t' '$1 FS $2 == last { printf " %s", $3; next } { printf "%s%s\t%s\t%s", end, $1, $2, $3; last = $1 FS $2; end = "\n" }
      END { print "" }'
}

case "${1:-}" in
  filter) filter "${2:-}" ;;
  list)
    each_names_a_test
    list=$(listed)
    echo "$list" >"$LIST"
    ;;
  verify)
    listed | diff --unified=0 "$LIST" - >&2 ||
      die "$LIST is not the list of the tests: scripts/gate.sh list writes it anew"
    ;;
  *) die "usage: scripts/gate.sh filter test|check|nightly, or list, or verify" ;;
esac
