#!/usr/bin/env bash
# bench-ledger.sh [ARGUMENT…]: what the ledger takes, with 10 million entries there before, on SQLite and PostgreSQL.
# bench-ledger.sh exports [ARGUMENT…]: memory and time of reading a million payouts.
# Prints tables; target/bench/ledger.json and exports.json keep them. On a directory on a disk, not in memory:
# BENCH_DIR, target/bench by default. The first compiles some minutes at its first run and needs 15 GB of disk.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

START_DEADLINE_S=60

directory=$PWD/${BENCH_DIR:-target/bench}
command=project
[[ ${1:-} == exports ]] && command=exports && shift
result=$directory/ledger.json
[[ $command == exports ]] && result=$directory/exports.json

scripts/install.sh bench
mkdir -p "$directory"
programs=$(postgres_programs) || die "initdb and postgres are missing"
# A short path, which any user reaches: that of a socket has 107 bytes at most.
cluster=$(mktemp -d --tmpdir="${BENCH_POSTGRES_DIR:-/var/tmp}")
server=""

clean_up() {
  if [[ -n $server ]]; then
    kill -INT "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$cluster"
}
trap clean_up EXIT

# PostgreSQL refuses root, and its user must reach the cluster: it lies beside our directories, on a disk as well.
as_owner=()
if [[ $EUID -eq 0 ]]; then
  owner=postgres
  id "$owner" >/dev/null 2>&1 || owner=nobody
  as_owner=(setpriv "--reuid=$owner" "--regid=$(id -g "$owner")" --clear-groups)
  chown "$owner" "$cluster"
fi

(
  cd "$cluster"
  "${as_owner[@]}" "$programs/initdb" --username=postgres --auth=trust --encoding=UTF8 --locale=C \
    --pgdata="$cluster/data" >/dev/null
)
# As it comes: fsync on, 128 MB of buffers.
port=$((20000 + RANDOM % 20000))
(cd "$cluster" && exec "${as_owner[@]}" "$programs/postgres" -D "$cluster/data" -k "$cluster" -h 127.0.0.1 \
  -p "$port" >"$cluster/log" 2>&1) &
server=$!
deadline=$((SECONDS + START_DEADLINE_S))
until "$programs/pg_isready" --quiet --host=127.0.0.1 --port="$port"; do
  if ((SECONDS >= deadline)) || ! kill -0 "$server" 2>/dev/null; then
    die "PostgreSQL does not start: $(tail -n 3 "$cluster/log")"
  fi
  sleep 0.1
done

cargo bench --bench ledger -- "$command" --directory "$directory" --json "$result" \
  --postgres "postgres://postgres@127.0.0.1:$port/postgres" "$@"
say "kept in $result"
