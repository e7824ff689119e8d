#!/usr/bin/env bash
# mutants.sh lua [--count N] [--seed N] [--only TEXT] [--list]: makes N mutants of the Lua scripts, each a file with one
# change, and runs the tests of `make test` against each until one fails (scripts/mutants/). It needs no new build for
# that, because debug builds take Lua from a directory on request (crates/kernel/src/store/script/mutant.rs).
# target/mutants/lua.tsv has the results. A survivor fails the command unless tests/gates/mutants names it.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

case "${1:-}" in
  lua)
    shift
    for command in test mutants; do scripts/install.sh "$command"; done
    cargo nextest run --locked --workspace --no-run
    exec python3 scripts/mutants "$@"
    ;;
  *) die "usage: scripts/mutants.sh lua [--count N] [--seed N] [--only TEXT] [--list]" ;;
esac
