#!/usr/bin/env bash
# Runs the black-box checks against the release build. They are outside the checkout, know only the contract, and are
# written in Python. ACCEPTANCE_DIR: their directory. ACCEPTANCE=required: it is an error if they are missing (as in CI).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source scripts/postgres.sh

# The groups of checks for what this version of the service has.
GROUPS_BUILT=(jackpots batches ledger coupons rooms fairness rules payouts events)
GROUPS_ON_POSTGRES=(ledger payouts events)
directory=${ACCEPTANCE_DIR:-../shared/acceptance}

if [[ ! -x $directory/run ]]; then
  [[ ${ACCEPTANCE:-} == required ]] && die "no black-box checks in $directory (set ACCEPTANCE_DIR)"
  say "black-box checks NOT RUN: none in $directory (set ACCEPTANCE_DIR to their directory)"
  exit 0
fi
scripts/install.sh test
cargo build --release --locked
"$directory/run" --binary target/release/jackpot "${GROUPS_BUILT[@]}"

# Runs the groups that read most of the ledger again, on PostgreSQL.
trap stop_postgres EXIT
start_postgres
export POSTGRES_FRONT_BINARY="$PWD/target/release/jackpot" POSTGRES_FRONT_URL="postgres://postgres@127.0.0.1:$postgres_port"
"$directory/run" --binary scripts/postgres-front.sh "${GROUPS_ON_POSTGRES[@]}"
stop_postgres

# Runs the group jackpots again over TLS. A local TLS client connects the checks with the TLS listener.
TLS_FRONT_DIR=$(mktemp -d)
export TLS_FRONT_DIR TLS_FRONT_BINARY="$PWD/target/release/jackpot"
end_fronts() {
  local pid
  for pid in "$TLS_FRONT_DIR"/*/stunnel.pid; do [[ ! -s $pid ]] || kill "$(<"$pid")" || true; done
  rm -rf "$TLS_FRONT_DIR"
}
trap end_fronts EXIT
openssl req -x509 -newkey ed25519 -nodes -days 2 -subj /CN=jackpot -addext subjectAltName=IP:127.0.0.1 \
  -keyout "$TLS_FRONT_DIR/key.pem" -out "$TLS_FRONT_DIR/cert.pem" 2>/dev/null
chmod 600 "$TLS_FRONT_DIR/key.pem"
"$directory/run" --binary scripts/tls-front.sh jackpots
