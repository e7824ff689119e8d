#!/usr/bin/env bash
# The black-box checks against the release build: they live beside the checkout, know only the contract and are
# written in Python. ACCEPTANCE_DIR: where they are. ACCEPTANCE=required: their absence is an error (as in CI).
set -euo pipefail
source "$(dirname "$0")/lib.sh"

# What this version of the service can do; a later one adds its group.
GROUPS_BUILT=(jackpots batches ledger coupons rooms fairness)
directory=${ACCEPTANCE_DIR:-../shared/acceptance}

if [[ ! -x $directory/run ]]; then
  [[ ${ACCEPTANCE:-} == required ]] && die "no black-box checks in $directory (set ACCEPTANCE_DIR)"
  say "black-box checks NOT RUN: none in $directory (set ACCEPTANCE_DIR to where they are)"
  exit 0
fi
scripts/install.sh test
cargo build --release --locked
"$directory/run" --binary target/release/jackpot "${GROUPS_BUILT[@]}"
