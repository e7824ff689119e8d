#!/usr/bin/env bash
# Runs every check that needs no running server. Stops at the first failure.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

# The advisory database comes over the network. Without a network, the other checks still run.
ADVISORY_DEADLINE_S=120

step() { say "--- $*"; "$@"; }

# luacheck reads one file at a time, but a script is several: parts, which only declare, and the file that decides. So here
# a name that a part declares at its top level is not unused, and one that a file does not declare is not unknown:
# tests/it/store/sources.rs checks that in whole scripts.
lint_lua() {
  local room files parts name options
  for room in lua/*/ tests/it/subject/lua/; do
    options=(--ignore 113)
    mapfile -t files < <(find "$room" -name '*.lua')
    mapfile -t parts < <(grep -L '^return' "${files[@]}")
    while read -r name; do
      options+=(--ignore "211/$name")
    done < <(((${#parts[@]})) && top_level_names "${parts[@]}")
    say "--- luacheck ${room%/}"
    luacheck --quiet --no-color "$room" "${options[@]}"
  done
}

top_level_names() {
  grep -hoE '^local (function )?[A-Za-z_][A-Za-z0-9_, ]*' "$@" | sed -E 's/^local (function )?//' | tr -d ' ' | tr ',' '\n' | sort -u
}

advisories() {
  local log="$TOOLS_DIR/advisories.log"
  if timeout "$ADVISORY_DEADLINE_S" cargo deny fetch db >"$log" 2>&1; then
    step cargo deny --offline check advisories
  else
    say "--- advisories NOT CHECKED: the advisory database could not be fetched ($(grep -vE '^\s*$' "$log" | tail -n 1))"
  fi
}

scripts/install.sh lint
mkdir -p "$TOOLS_DIR"
step cargo fmt --all --check
step cargo clippy --locked --all-targets -- -D warnings
# What `make run` builds, and nothing else does.
step cargo clippy --locked --package jackpot --no-default-features --bins -- -D warnings
# The map of the source is in the crate docs. A broken link in it is an error.
RUSTDOCFLAGS="-D warnings" step cargo doc --locked --no-deps --quiet
if [[ -d lua ]]; then
  step stylua --check lua tests/it/subject/lua
  lint_lua
fi
# The script for wrk runs in another Lua with other globals.
step stylua --check benches
step luacheck --quiet --no-color --no-config --std luajit --max-line-length 120 \
  --globals tag count heads jackpots number setup init request 'done' -- benches
step shellcheck --external-sources --source-path=scripts scripts/*.sh deploy/*.sh deploy/*/*.sh deploy/debian/post* \
  tests/deploy/*.sh .ci/run
step cargo deny check bans licenses sources
advisories
say "lint passed"
