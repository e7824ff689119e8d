# shellcheck shell=bash
# A private PostgreSQL for a benchmark or the black-box checks. Source it after lib.sh, do not run it. start_postgres sets `postgres_socket` to the
# directory of its socket and `postgres_port` to its port. stop_postgres ends it and removes its files.

POSTGRES_START_DEADLINE_S=60
postgres_socket=""
postgres_port=""
postgres_server=""

# With its default settings: fsync on, 128 MB of buffers.
start_postgres() {
  local programs owner deadline as_owner=()
  programs=$(postgres_programs) || die "initdb and postgres are missing"
  # A short path that every user can read: the path of a socket has at most 107 bytes.
  postgres_socket=$(mktemp -d --tmpdir="${BENCH_POSTGRES_DIR:-/var/tmp}")
  # PostgreSQL refuses root, and its user must reach the cluster. So it is outside our directories, also on a disk.
  if [[ $EUID -eq 0 ]]; then
    owner=postgres
    id "$owner" >/dev/null 2>&1 || owner=nobody
    as_owner=(setpriv "--reuid=$owner" "--regid=$(id -g "$owner")" --clear-groups)
    chown "$owner" "$postgres_socket"
  fi
  (
    cd "$postgres_socket" || exit 1
    "${as_owner[@]}" "$programs/initdb" --username=postgres --auth=trust --encoding=UTF8 --locale=C \
      --pgdata="$postgres_socket/data" >/dev/null
  )
  postgres_port=$((20000 + RANDOM % 20000))
  (cd "$postgres_socket" && exec "${as_owner[@]}" "$programs/postgres" -D "$postgres_socket/data" \
    -k "$postgres_socket" -h 127.0.0.1 -p "$postgres_port" >"$postgres_socket/log" 2>&1) &
  postgres_server=$!
  deadline=$((SECONDS + POSTGRES_START_DEADLINE_S))
  until "$programs/pg_isready" --quiet --host=127.0.0.1 --port="$postgres_port"; do
    if ((SECONDS >= deadline)) || ! kill -0 "$postgres_server" 2>/dev/null; then
      die "PostgreSQL does not start: $(tail -n 3 "$postgres_socket/log")"
    fi
    sleep 0.1
  done
}

stop_postgres() {
  if [[ -n $postgres_server ]]; then
    kill -INT "$postgres_server" 2>/dev/null || true
    wait "$postgres_server" 2>/dev/null || true
  fi
  [[ -z $postgres_socket ]] || rm -rf "$postgres_socket"
  postgres_server=""
  postgres_socket=""
}
