#!/usr/bin/env bash
# acceptance.sh [sqlite|postgres|tls]…: runs the black-box checks (default: all three). They are outside the checkout, know
# only the contract, and are written in Python. BINARY: the service (default: the release build).
# ACCEPTANCE_DIR: their directory. ACCEPTANCE=required: it is an error if they are missing (as in CI).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source scripts/postgres.sh

# The groups of checks for what this version of the service has.
GROUPS_BUILT=(jackpots batches ledger coupons rooms fairness rules payouts events)
GROUPS_ON_POSTGRES=(ledger payouts events)
# Checks of the group `guards` that expect something else than the contract, which decides: closing a jackpot ends its cycles
# with `close`, not `restart`, and `must_hit_by` null ends no cycle before the next take of all.
AGAINST_THE_CONTRACT=(test_a_restart_keeps_the_deadline test_closing_publishes_every_seed test_a_rule_that_is_taken_away_ends_its_cycle)
directory=${ACCEPTANCE_DIR:-../shared/acceptance}

if [[ ! -x $directory/run ]]; then
  [[ ${ACCEPTANCE:-} == required ]] && die "no black-box checks in $directory (set ACCEPTANCE_DIR)"
  say "black-box checks NOT RUN: none in $directory (set ACCEPTANCE_DIR to their directory)"
  exit 0
fi

end_fronts() {
  local pid
  stop_postgres
  [[ -n ${TLS_FRONT_DIR:-} ]] || return 0
  for pid in "$TLS_FRONT_DIR"/*/stunnel.pid; do [[ ! -s $pid ]] || kill "$(<"$pid")" || true; done
  rm -rf "$TLS_FRONT_DIR"
}

check_sqlite() {
  "$directory/run" --binary "$BINARY" "${GROUPS_BUILT[@]}"
  check_guards
}

# The group `guards`, without the checks that are against the contract.
check_guards() {
  local name only=()
  while read -r _ name; do
    [[ " ${AGAINST_THE_CONTRACT[*]} " == *" $name "* ]] || only+=(-k "$name")
  done < <(grep -oE 'def test_\w+' "$directory/check_guards.py")
  say "not run, because the contract says otherwise: ${AGAINST_THE_CONTRACT[*]}"
  "$directory/run" --binary "$BINARY" "${only[@]}" guards
}

# The groups that read most of the ledger again, on PostgreSQL.
check_postgres() {
  start_postgres
  export POSTGRES_FRONT_BINARY="$BINARY"
  export POSTGRES_FRONT_URL="postgres://postgres@127.0.0.1:$postgres_port"
  "$directory/run" --binary scripts/postgres-front.sh "${GROUPS_ON_POSTGRES[@]}"
  stop_postgres
}

# The group jackpots again over TLS. A local TLS client connects the checks with the TLS listener.
check_tls() {
  TLS_FRONT_DIR=$(mktemp -d)
  export TLS_FRONT_DIR TLS_FRONT_BINARY="$BINARY"
  openssl req -x509 -newkey ed25519 -nodes -days 2 -subj /CN=jackpot -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$TLS_FRONT_DIR/key.pem" -out "$TLS_FRONT_DIR/cert.pem" 2>/dev/null
  chmod 600 "$TLS_FRONT_DIR/key.pem"
  "$directory/run" --binary scripts/tls-front.sh jackpots
}

parts=("$@")
((${#parts[@]})) || parts=(sqlite postgres tls)
for part in "${parts[@]}"; do
  [[ $part == sqlite || $part == postgres || $part == tls ]] || die "usage: scripts/acceptance.sh [sqlite|postgres|tls]…"
done
scripts/install.sh test
if [[ -z ${BINARY:-} ]]; then
  cargo build --release --locked
  BINARY=target/release/jackpot
fi
BINARY=$(realpath "$BINARY")
trap end_fronts EXIT
for part in "${parts[@]}"; do "check_$part"; done
