#!/usr/bin/env bash
# pinned.sh: builds the program of the pinned commit, from which the test of rolling upgrades begins, and prints its path.
# pinned.sh --built: builds nothing, and fails if it was not built before.
# The commit is changed when a release ends the support of upgrades from it (docs/how-to/upgrade-and-migrate.md).
set -euo pipefail
source "$(dirname "$0")/lib.sh"

COMMIT=49a6d0e88f7c
program="$TOOLS_DIR/pinned/$COMMIT/jackpot"

if [[ ! -x $program ]]; then
  [[ ${1:-} != --built ]] || die "the program of commit $COMMIT is not built"
  git cat-file -e "$COMMIT^{commit}" 2>/dev/null ||
    die "commit $COMMIT is not in this clone: git fetch --unshallow"
  tree=$(mktemp -d)
  trap 'git worktree remove --force "$tree" 2>/dev/null; rm -rf "$tree"' EXIT
  git worktree add --quiet --detach "$tree" "$COMMIT"
  say "building the program of commit $COMMIT (once, some minutes)"
  # With the directory of the other builds most dependencies are built already. Only the copy below is used.
  CARGO_TARGET_DIR="$PWD/target" cargo build --quiet --locked --bin jackpot --manifest-path "$tree/Cargo.toml"
  mkdir -p "$(dirname "$program")"
  cp target/debug/jackpot "$program"
fi
echo "$program"
