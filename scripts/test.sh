#!/usr/bin/env bash
# test.sh: every test, then the black-box checks. test.sh FILTER…: only those tests (arguments of cargo nextest run).
# Stops what it started: servers, and the Docker engine where none answered before.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

SERVER_DEADLINE_S=20
containers=()

clean_up() {
  if ((${#containers[@]})); then docker rm --force "${containers[@]}" >/dev/null 2>&1 || true; fi
  scripts/docker-down.sh || true
}

# serve NAME IMAGE PROGRAM: one server for the whole run; its URL in $url. A container per test would cost more
# than the tests: each test has ids of its own instead, and one that breaks its server starts its own.
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

# Without an engine the tests start redis-server and valkey-server themselves.
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
  else
    say "tests run on local servers instead of containers"
    scripts/valkey.sh || true
  fi
}

scripts/install.sh test
trap clean_up EXIT
find_servers

without_valkey=()
valkey="exercised"
if [[ -z ${JACKPOT_TEST_VALKEY_URL:-} ]] && ! have valkey-server; then
  without_valkey=(--filterset 'not test(valkey)')
  valkey="NOT EXERCISED: no image, no package and no valkey-server here"
fi

cargo nextest run --no-fail-fast "${without_valkey[@]}" "$@"
(($#)) && exit 0
cargo test --quiet --doc
scripts/acceptance.sh
say "all tests passed; Valkey: $valkey"
