# shellcheck shell=bash
# Redis, Valkey and PostgreSQL for the tests: one server of each for a whole run. Source it after lib.sh, do not run it.
# A container for each test would cost more than the tests. So each test uses its own ids or its own database, and a test
# that breaks its server starts a server of its own. Without a Docker engine the tests start local programs themselves.

SERVER_DEADLINE_S=60
# Each running test has several pools of connections.
POSTGRES_CONNECTIONS=300
containers=()

# serve NAME IMAGE PROGRAM: starts one; its URL is in $url.
serve() {
  local name="jackpot-test-$1-$$"
  containers+=("$name")
  docker run --detach --rm --name "$name" --publish 127.0.0.1::6379 --tmpfs /data "$2" "$3" --bind 0.0.0.0 \
    --protected-mode no --appendonly yes --appendfsync always --maxmemory-policy noeviction --save '' >/dev/null
  local address deadline=$((SECONDS + SERVER_DEADLINE_S))
  address=$(docker port "$name" 6379/tcp | head -n 1)
  until docker logs "$name" 2>&1 | grep -q 'Ready to accept connections'; do
    ((SECONDS < deadline)) || die "$name is not ready: $(docker logs --tail 3 "$name" 2>&1)"
    sleep 0.1
  done
  url="redis://$address"
}

# Does the same for PostgreSQL.
serve_postgres() {
  local name="jackpot-test-postgres-$$"
  containers+=("$name")
  docker run --detach --rm --name "$name" --publish 127.0.0.1::5432 --env "POSTGRES_PASSWORD=$POSTGRES_PASSWORD" \
    --env PGDATA=/var/lib/postgresql/data/main --tmpfs /var/lib/postgresql/data "$POSTGRES_IMAGE" \
    postgres -c "max_connections=$POSTGRES_CONNECTIONS" >/dev/null
  local deadline=$((SECONDS + SERVER_DEADLINE_S))
  # Over TCP, because the image first starts a server for its own setup, which does not listen there.
  until docker exec "$name" pg_isready --quiet --host=127.0.0.1; do
    ((SECONDS < deadline)) || die "$name is not ready: $(docker logs --tail 3 "$name" 2>&1)"
    sleep 0.1
  done
  url="postgres://postgres:$POSTGRES_PASSWORD@$(docker port "$name" 5432/tcp | head -n 1)/postgres"
}

has_image() { docker image inspect "$1" >/dev/null 2>&1; }

# start_servers NAME…: starts these, of redis, valkey and postgres, where none is given, and tells the tests of them.
start_servers() {
  local name
  scripts/docker-up.sh || {
    say "tests run on local servers instead of containers"
    [[ " $* " != *" valkey "* ]] || scripts/valkey.sh || say "no valkey-server, so tests on Valkey will fail"
    return 0
  }
  scripts/images.sh tests "$@"
  for name in "$@"; do
    case $name in
      redis)
        [[ -n ${JACKPOT_TEST_REDIS_URL:-} ]] && continue
        serve redis "$REDIS_IMAGE" redis-server
        export JACKPOT_TEST_REDIS_URL=$url
        ;;
      valkey)
        [[ -n ${JACKPOT_TEST_VALKEY_URL:-} ]] || ! has_image "$VALKEY_IMAGE" && continue
        serve valkey "$VALKEY_IMAGE" valkey-server
        export JACKPOT_TEST_VALKEY_URL=$url
        ;;
      postgres)
        [[ -n ${JACKPOT_TEST_POSTGRES_URL:-} ]] || ! has_image "$POSTGRES_IMAGE" && continue
        serve_postgres
        export JACKPOT_TEST_POSTGRES_URL=$url
        ;;
    esac
  done
}

stop_servers() {
  if ((${#containers[@]})); then docker rm --force "${containers[@]}" >/dev/null 2>&1 || true; fi
  scripts/docker-down.sh || true
}

# Each run of what may stop a merge tries the same cases of properties, so a change is refused for what it did. The night
# looks further.
same_cases() { export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-34}; }

# run_tests GATE [ARGUMENT…]: runs the tests of a command (scripts/gate.sh), on what start_servers started.
run_tests() {
  local gate=$1
  shift
  # cargo writes colours into a pipe only on request.
  [[ -t 2 ]] && export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-always}
  [[ $gate == nightly ]] || same_cases
  cargo nextest run --workspace --profile "$gate" --filterset "$(scripts/gate.sh filter "$gate")" "$@" >&2
}
