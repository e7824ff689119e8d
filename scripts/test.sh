#!/usr/bin/env bash
# test.sh: what a change needs to pass before it is shown: format, clippy, the tests of `make test` (tests/gates), and the
# black-box checks against the unoptimised program. `make check` has the rest.
# test.sh changed: only the tests of the crates that have changed since the main branch, and of those that use them.
# test.sh FILTER…: only these tests, of any command (arguments of cargo nextest run).
# At the end it stops the servers that it started, and the Docker engine if it started one.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source scripts/lanes.sh
source scripts/servers.sh

clean_up() {
  end_lanes
  stop_servers
}

# The crates that the changed files are in, as an expression of nextest: their tests, and those of the crates that use them.
# A file of another place (docs, scripts, clients) may be read by an integration test.
changed() {
  local base file crate found=()
  base=$(git merge-base HEAD "$(git rev-parse --verify --quiet origin/main || git rev-parse main)")
  while read -r file; do
    crate=$(cut -d / -f 2 <<<"$file")
    case $file in
      crates/* | lua/*) if [[ -d crates/$crate ]]; then found+=("rdeps(jackpot-$crate)"); else found+=("all()"); fi ;;
      config/*) found+=("rdeps(jackpot-kernel)") ;;
      migrations/* | Cargo.* | .config/* | rust-toolchain.toml) found+=("all()") ;;
      *) found+=("package(jackpot)") ;;
    esac
  done < <(git diff --no-renames --name-only "$base"; git ls-files --others --exclude-standard)
  ((${#found[@]})) || die "nothing has changed since ${base:0:12}"
  printf '%s\n' "${found[@]}" | sort -u | paste -sd+
}

if (($#)) && [[ $1 != changed ]]; then
  scripts/install.sh test
  trap clean_up EXIT
  start_servers redis valkey postgres
  cargo nextest run "$@"
  exit
fi

only=()
if [[ ${1:-} == changed ]]; then
  only=(--filterset "($(scripts/gate.sh filter test)) & ($(changed))")
fi
scripts/install.sh test
cargo fmt --all --check
cargo clippy --locked --all-targets --quiet -- -D warnings
trap clean_up EXIT
start_servers redis
if ((${#only[@]})); then
  cargo nextest run --workspace --profile test "${only[@]}"
  exit
fi
cargo nextest run --workspace --no-run
lane black-box env BINARY=target/debug/jackpot scripts/acceptance.sh sqlite
scripts/gate.sh verify
run_tests test
cargo test --workspace --quiet --doc
join_lanes black-box
say "make test passed; make check has the rest"
