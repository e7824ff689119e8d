#!/usr/bin/env bash
# mutants.sh lua [--count N] [--seed N] [--only TEXT] [--list]: makes N mutants of the Lua scripts, each a file with one
# change, and runs the tests of `make test` against each until one fails (scripts/mutants/). It needs no new build for
# that, because debug builds take Lua from a directory on request (crates/kernel/src/store/script/mutant.rs).
# mutants.sh rust [--shard K/N] [--file PATTERN] [--only TEXT] [--unit] [--list]: the same for Rust (scripts/mutants/rust.py):
# every mutant, or each Nth one, of the files that .cargo/mutants.toml names. It changes these files in place, one at a time.
# target/mutants/lua.tsv and rust.tsv have the results. A survivor fails the command unless tests/gates/mutants names it.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source scripts/servers.sh

# KiB of addresses that a compiler or a test may have.
MUTANT_MEMORY_KB=16000000
kind=${1:-}
case "$kind" in
  lua | rust) shift ;;
  *) die "usage: scripts/mutants.sh lua [--count N] [--seed N] [--only TEXT] [--list], or rust [--shard K/N] [--file PATTERN] [--only TEXT] [--unit] [--list]" ;;
esac
for command in test mutants; do scripts/install.sh "$command"; done
same_cases
if [[ $kind == lua ]]; then
  cargo nextest run --locked --workspace --no-run
  exec python3 scripts/mutants "$@"
fi
# What an endless loop collects ends with the mutant, and not with the machine.
ulimit -v "$MUTANT_MEMORY_KB"
[[ " $* " == *" --unit "* || " $* " == *" --list "* ]] || {
  trap stop_servers EXIT
  start_servers redis
}
python3 scripts/mutants/rust.py "$@"
