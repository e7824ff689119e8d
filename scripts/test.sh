#!/usr/bin/env bash
# test.sh: runs every test, then the black-box checks, the checks of the API description and of the clients, and what
# deploy/ ships.
# test.sh FILTER…: runs only these tests (arguments of cargo nextest run).
# At the end it stops the servers that it started, and the Docker engine if it started one.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source scripts/lanes.sh

SERVER_DEADLINE_S=60
# Each running test has several pools of connections.
POSTGRES_CONNECTIONS=300
containers=()

clean_up() {
  end_lanes
  if ((${#containers[@]})); then docker rm --force "${containers[@]}" >/dev/null 2>&1 || true; fi
  scripts/docker-down.sh || true
}

# serve NAME IMAGE PROGRAM: starts one server for the whole run; its URL is in $url. A container for each test would cost
# more than the tests. So each test uses its own ids, and a test that breaks its server starts a server of its own.
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

# serve_postgres: does the same for PostgreSQL. Each test makes a database of its own on it.
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

# Without a Docker engine the tests start redis-server, valkey-server and postgres themselves.
find_servers() {
  if scripts/docker-up.sh; then
    scripts/images.sh
    if [[ -z ${JACKPOT_TEST_REDIS_URL:-} ]]; then
      serve redis "$REDIS_IMAGE" redis-server
      export JACKPOT_TEST_REDIS_URL=$url
    fi
    if [[ -z ${JACKPOT_TEST_VALKEY_URL:-} ]] && docker image inspect "$VALKEY_IMAGE" >/dev/null 2>&1; then
      serve valkey "$VALKEY_IMAGE" valkey-server
      export JACKPOT_TEST_VALKEY_URL=$url
    fi
    if [[ -z ${JACKPOT_TEST_POSTGRES_URL:-} ]] && docker image inspect "$POSTGRES_IMAGE" >/dev/null 2>&1; then
      serve_postgres
      export JACKPOT_TEST_POSTGRES_URL=$url
    fi
  else
    say "tests run on local servers instead of containers"
    scripts/valkey.sh || true
  fi
}

scripts/install.sh test
trap clean_up EXIT
find_servers

# Tests that can't run here: a union, as nextest writes it.
missing="none()"
valkey="exercised"
if [[ -z ${JACKPOT_TEST_VALKEY_URL:-} ]] && ! have valkey-server; then
  missing+=" + test(valkey)"
  valkey="NOT EXERCISED: no image, no package and no valkey-server here"
fi
# Without arguments only: one test needs it, and it takes minutes to build. A clone may lack the history.
upgrades="exercised"
if (($# == 0)) && ! scripts/pinned.sh >/dev/null; then
  missing+=" + test(/^fault::rolling::/)"
  upgrades="NOT EXERCISED: no program of the pinned commit"
fi

log="$TOOLS_DIR/nextest.log"
mkdir -p "$TOOLS_DIR"
# cargo writes colours into a pipe only on request.
[[ -t 2 ]] && export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-always}
(($#)) || lane prepare nice -n 19 scripts/prepare.sh
cargo nextest run --no-fail-fast --filterset "not ($missing)" "$@" 2>&1 | tee "$log" >&2
(($#)) && exit 0
cargo test --quiet --doc
join_lanes prepare

# These wait most of their time, and each starts its own service.
lanes=(acceptance-sqlite acceptance-postgres acceptance-tls api clients)
lane acceptance-sqlite scripts/acceptance.sh sqlite
lane acceptance-postgres scripts/acceptance.sh postgres
lane acceptance-tls scripts/acceptance.sh tls
lane api scripts/api.sh
lane clients scripts/clients.sh test
join_lanes "${lanes[@]}"
# Alone, because it puts load on the machine.
BINARY=target/release/jackpot scripts/deploy.sh test
# Again at the end, because the black-box checks print many lines after it.
say "$(grep -E 'Summary' "$log" | tail -n 1)"
say "all tests passed; Valkey: $valkey; upgrades: $upgrades"
