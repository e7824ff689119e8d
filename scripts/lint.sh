#!/usr/bin/env bash
# Every check that needs no running server. Stops at the first that fails.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

# The advisory database comes over the network; a machine without it still has the other checks.
ADVISORY_DEADLINE_S=120

step() { say "--- $*"; "$@"; }

# luacheck sees one file at a time, but a script is several files joined: what one file of a room declares at its
# top level and another one names, that other may read, and it is not unused for being read only there.
lint_lua() {
  local room names name
  for room in lua/*/; do
    compgen -G "$room*.lua" >/dev/null || continue
    mapfile -t names < <(grep -hoE '^local (function )?[A-Za-z_][A-Za-z0-9_, ]*' "$room"*.lua |
      sed -E 's/^local (function )?//' | tr -d ' ' | tr ',' '\n' | sort -u)
    local options=()
    for name in "${names[@]}"; do
      if (($(grep -lw "$name" "$room"*.lua | wc -l) > 1)); then
        options+=(--read-globals "$name" --ignore "211/$name")
      fi
    done
    step luacheck --quiet --no-color "${room%/}" "${options[@]}"
  done
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
step cargo fmt --check
step cargo clippy --locked --all-targets -- -D warnings
if [[ -d lua ]]; then
  step stylua --check lua
  lint_lua
fi
step shellcheck --external-sources --source-path=scripts scripts/*.sh .ci/run
step cargo deny check bans licenses sources
advisories
say "lint passed"
