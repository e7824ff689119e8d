#!/usr/bin/env bash
# bench-ledger.sh [ARGUMENT…]: measures the cost of the ledger after 10 million entries, on SQLite and PostgreSQL:
# entries per second, and the processor time of service and database for each event that came alone or combined.
# bench-ledger.sh exports [ARGUMENT…]: measures memory and time of reading a million payouts.
# Prints tables and keeps them in target/bench/ledger.json and exports.json. BENCH_DIR (default: target/bench) must be on a
# disk, not in memory. The first command compiles for some minutes at its first run and needs 15 GB of disk.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source scripts/postgres.sh

directory=$PWD/${BENCH_DIR:-target/bench}
command=project
[[ ${1:-} == exports ]] && command=exports && shift
result=$directory/ledger.json
[[ $command == exports ]] && result=$directory/exports.json

scripts/install.sh bench
mkdir -p "$directory"
trap stop_postgres EXIT
start_postgres

cargo bench --bench benches -- "$command" --directory "$directory" --json "$result" \
  --postgres "postgres://postgres@127.0.0.1:$postgres_port/postgres" "$@"
say "wrote $result"
