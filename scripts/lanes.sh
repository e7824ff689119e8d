# shellcheck shell=bash
# Runs commands beside each other. Source it after lib.sh, do not run it.
# The output of each goes to a file, because nobody can read two that print at once.

# Process id of each lane, by its name.
declare -A lane_process=()

lane_log() { printf '%s/lane-%s.log' "$TOOLS_DIR" "$1"; }

# lane NAME PROGRAM…: begins a lane, in a session of its own, so that end_lanes ends what it started too.
lane() {
  local name=$1
  shift
  mkdir -p "$TOOLS_DIR"
  # shellcheck disable=SC2016  # the variables of the lane's own shell
  setsid bash -c '"$@"; status=$?; echo "after $SECONDS s"; exit "$status"' lane "$@" >"$(lane_log "$name")" 2>&1 </dev/null &
  lane_process[$name]=$!
}

# join_lanes NAME…: waits for these lanes and prints what they printed. If some failed, those come last.
join_lanes() {
  local name failed=()
  for name in "$@"; do
    if wait "${lane_process[$name]}"; then
      say "--- $name"
      cat "$(lane_log "$name")" >&2
    else
      failed+=("$name")
    fi
    unset "lane_process[$name]"
  done
  for name in "${failed[@]}"; do
    say "--- $name: FAILED"
    cat "$(lane_log "$name")" >&2
  done
  ((${#failed[@]} == 0)) || die "failed: ${failed[*]}"
}

# end_lanes: ends those that still run.
end_lanes() {
  local process
  for process in "${lane_process[@]}"; do kill -TERM -- "-$process" 2>/dev/null || true; done
}
