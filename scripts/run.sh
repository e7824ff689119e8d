#!/usr/bin/env bash
# Builds the service, serves on 127.0.0.1:8080 with data in ./data and the sample jackpot, and prints a call to try.
# The default build is quick and unoptimised. RELEASE=1 makes the release build; measure only that one.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

LISTEN=${JACKPOT__HTTP__LISTEN:-127.0.0.1:8080}
DATA=${JACKPOT__DATA_DIR:-./data}
READY_DEADLINE_S=60
service=

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

scripts/install.sh run
port_is_taken && die "$LISTEN is in use: stop what listens there, or set JACKPOT__HTTP__LISTEN to another address"

profile=debug
if [[ ${RELEASE:-} == 1 ]]; then
  cargo build --release --locked
  profile=release
else
  say "building unoptimised, for a quick start (RELEASE=1 make run: optimised, takes longer to build)"
  cargo build --locked
fi

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
