#!/usr/bin/env bash
# bench.sh peers|growth|memory|soak|collision|hostile [ARGUMENT…]: measures the service beside its peers, how its cost
# grows, what it keeps in memory, what approaches pay to simultaneous winners, and what hostile clients can do to it.
# docs/reference/benchmarks.md describes each. `--help` after the command lists its options, `--quick` is a short run.
# Tables go to standard output; target/bench keeps JSON and a page with plots (BENCH_DIR: another directory, on a disk).
# BENCH_PROFILE=release: with the release build, where a short run shall only show that the comparison works.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source scripts/postgres.sh

command=${1:?peers, growth, memory, soak, collision or hostile}
shift
# It holds sockets, and the path of a socket has at most 107 bytes.
directory=${BENCH_DIR:-target/bench}

clean_up() {
  stop_postgres
  # An interrupted run leaves these directories. A run that ended has removed its own.
  rm -rf "${directory:?}"/jb-??????
}

scripts/install.sh bench
mkdir -p "$directory"
profile=${BENCH_PROFILE:-bench}
cargo bench --quiet --locked --profile "$profile" --no-run --bench benches
trap clean_up EXIT
# Writes the build's files to the disk, so that no measurement waits for them.
sync

options=(--directory "$directory")
case $command in
  peers)
    start_postgres
    options+=(--postgres "$postgres_socket" --postgres-port "$postgres_port" --pgbench "$(postgres_programs)/pgbench")
    ;;
  growth | collision)
    start_postgres
    options+=(--postgres-port "$postgres_port")
    ;;
esac
cargo bench --quiet --locked --profile "$profile" --bench benches -- "$command" "${options[@]}" "$@"
