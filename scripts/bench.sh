#!/usr/bin/env bash
# bench.sh peers|growth|memory|soak|hostile [ARGUMENT…]: the service beside its peers, how its cost grows, what it keeps in
# memory, and what strangers can do to it; docs/reference/benchmarks.md says what each is. `--help` behind the command lists its options, `--quick` is a first look.
# Tables on standard output; target/bench keeps JSON and a page with plots (BENCH_DIR: elsewhere, on a disk).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source scripts/postgres.sh

command=${1:?peers, growth, memory, soak or hostile}
shift
# Sockets lie in it, and their paths have 107 bytes at most.
directory=${BENCH_DIR:-target/bench}

clean_up() {
  stop_postgres
  # Only what a run that was broken off could leave; those that ended have removed their own.
  rm -rf "${directory:?}"/jb-??????
}

scripts/install.sh bench
mkdir -p "$directory"
bench=compare
[[ $command == hostile ]] && bench=hostile
cargo bench --quiet --locked --no-run --bench "$bench"
trap clean_up EXIT
# What the build wrote is on the disk before anything waits for a disk.
sync

options=(--directory "$directory")
if [[ $command == peers ]]; then
  start_postgres
  options+=(--postgres "$postgres_socket" --postgres-port "$postgres_port" --pgbench "$(postgres_programs)/pgbench")
fi
cargo bench --quiet --locked --bench "$bench" -- "$command" "${options[@]}" "$@"
