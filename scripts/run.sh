#!/usr/bin/env bash
# Builds the service, serves on 127.0.0.1:8080 with data in ./data and the sample jackpot, and prints a call to try.
# The default build is quick: unoptimised, and without what the sample does not need (crates/kernel/src/built.rs). RELEASE=1 makes the
# release build, which has all; measure only that one.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

LISTEN=${JACKPOT__HTTP__LISTEN:-127.0.0.1:8080}
DATA=${JACKPOT__DATA_DIR:-./data}
READY_DEADLINE_S=60
# Between two lines about the build, where cargo shows no bar.
PROGRESS_S=15
service=
profile_options=()
features=()

# Ctrl-C also reaches the service. This waits until the service has answered the requests it accepted.
stop() {
  trap - EXIT INT TERM
  if [[ -n $service ]] && kill -0 "$service" 2>/dev/null; then
    kill -TERM "$service" 2>/dev/null || true
    wait "$service" 2>/dev/null || true
  fi
}

port_is_taken() { (exec 3<>"/dev/tcp/${LISTEN%:*}/${LISTEN##*:}") 2>/dev/null; }

print_a_call() {
  cat <<TEXT

Jackpot is ready on http://$LISTEN (stop it with Ctrl-C). Try an entry:

  curl -s http://$LISTEN/v1/jackpots/spring/entries -H "Authorization: Bearer \$(cat $DATA/operator.key)" \\
    -H 'Content-Type: application/json' -d '{"entry_id":"round-1-p7","player_id":"p7","stake":100}'

The pool: http://$LISTEN/v1/jackpots/spring/meter    The API: http://$LISTEN/docs
The console: http://$LISTEN/console/ (sign in with the key in $DATA/operator.key)

TEXT
}

# build: with cargo's own bar on a terminal. Elsewhere cargo's lines go to a file, and a line now and then says how
# far it is.
build() {
  if [[ -t 2 ]]; then
    cargo build --locked "${profile_options[@]}" "${features[@]}"
    return
  fi
  local log all builder
  log=$(mktemp)
  all=$(cargo tree --locked --edges normal,build --prefix none --format '{p}' "${features[@]}" | cut -d ' ' -f 1,2 | sort --unique | wc -l)
  cargo build --locked "${profile_options[@]}" "${features[@]}" 2>"$log" &
  builder=$!
  trap 'kill "$builder" 2>/dev/null; wait "$builder"; exit 130' INT TERM
  until wait_for "$builder" "$PROGRESS_S"; do
    say "building: $(grep --count "^ *Compiling " "$log" || true) of at most $all crates begun"
  done
  trap - INT TERM
  if ! wait "$builder"; then
    cat "$log" >&2
    die "the build failed: see above"
  fi
  rm "$log"
}

# wait_for PROCESS SECONDS: whether it has ended within this time.
wait_for() {
  local deadline=$((SECONDS + $2))
  while kill -0 "$1" 2>/dev/null; do
    ((SECONDS < deadline)) || return 1
    sleep 0.2
  done
}

scripts/install.sh run
port_is_taken && die "$LISTEN is in use: stop what listens there, or set JACKPOT__HTTP__LISTEN to another address"

profile=debug
if [[ ${RELEASE:-} == 1 ]]; then
  say "building optimised: the first time some 15 minutes on two cores"
  profile_options=(--release)
  profile=release
else
  say "building unoptimised: the first time some 3 minutes on two cores (RELEASE=1 make run: optimised, some 15 minutes)"
  features=(--package jackpot --no-default-features)
  # For a first build: no lines of backtraces, and nothing kept for the next edit. They cost a fifth of the last crates.
  export CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0
fi
build

trap stop EXIT
trap 'stop; exit 0' INT TERM
export JACKPOT__HTTP__LISTEN=$LISTEN JACKPOT__DATA_DIR=$DATA
"target/$profile/jackpot" serve &
service=$!

deadline=$((SECONDS + READY_DEADLINE_S))
until curl --silent --fail --max-time 2 --output /dev/null "http://$LISTEN/readyz"; do
  kill -0 "$service" 2>/dev/null || { wait "$service" || die "the service ended at start: see above"; }
  ((SECONDS < deadline)) || die "not ready after $READY_DEADLINE_S s: see above"
  sleep 0.2
done
print_a_call
wait "$service"
