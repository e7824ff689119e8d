#!/usr/bin/env bash
# deploy.sh test [PART…]: builds and runs what deploy/ ships: rules, unit, manifests, images, stack, package (in this
# order; default: all). BINARY: the program (default: the release build). What needs a Docker engine is not exercised
# where none can start, and the last line says so; with DEPLOY=required (make nightly) that is an error.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

MAX_IMAGE_MB=120
MAX_EXPOSURE=20 # tenths
READY_DEADLINE_S=60
# JackpotInstanceDown waits for a minute; a scrape and an evaluation come before it.
ALERT_DEADLINE_S=120
VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

[[ ${1:-} == test ]] || die "usage: scripts/deploy.sh test [rules|unit|manifests|images|stack|package]…"
shift
parts=("$@")
((${#parts[@]})) || parts=(rules unit manifests images stack package)

work=$(mktemp -d)
containers=()
engine=
stack=
package=
player=

clean_up() {
  stop_player
  [[ -z $stack ]] || compose down --volumes --timeout 2 >/dev/null 2>&1 || true
  ((${#containers[@]})) && docker rm --force --volumes "${containers[@]}" >/dev/null 2>&1
  rm -rf "$work"
  [[ -z $engine ]] || scripts/docker-down.sh || true
}
trap clean_up EXIT

step() { say "--- deploy: $*"; }

# eventually SECONDS WHAT COMMAND…: repeats the command until it succeeds.
eventually() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >"$work/eventually" 2>&1; do
    ((SECONDS < deadline)) || die "$what: $(tail -n 5 "$work/eventually")"
    sleep 0.5
  done
}

# start NAME OPTION… IMAGE ARGUMENT…: starts a container as an orchestrator would: nothing but its volume can be
# written.
start() {
  local name="jackpot-deploy-$1-$$"
  shift
  containers+=("$name")
  docker run --detach --name "$name" --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
    "$@" >/dev/null
  container=$name
}

is_healthy() { [[ $(docker inspect --format '{{.State.Health.Status}}' "$1") == healthy ]]; }

# same_versions: what is named in two places is the same in both.
same_versions() {
  local file image tool version
  for file in deploy/compose.yml deploy/kubernetes/base/deployment.yaml docs/how-to/run-the-stack.md; do
    grep -q "jackpot:$VERSION-slim" "$file" || die "$file does not name jackpot:$VERSION-slim"
  done
  grep -q "newTag: $VERSION-slim" deploy/kubernetes/example/kustomization.yaml || die "the example has another version"
  for image in "$REDIS_IMAGE" "$POSTGRES_IMAGE" "$HAPROXY_IMAGE" "$PROMETHEUS_IMAGE"; do
    grep -qF ":-$image}" deploy/compose.yml || die "deploy/compose.yml does not name $image"
  done
  for image in "$RUST_IMAGE" "$DEBIAN_SLIM_IMAGE"; do
    grep -q "^ARG .*_IMAGE=$image$" deploy/Dockerfile || die "deploy/Dockerfile does not name $image"
  done
  for tool in AUDITABLE CYCLONEDX; do
    version=$(sed -n "s/^${tool}_VERSION=//p" scripts/install.sh)
    grep -qF "cargo-${tool,,}@$version" deploy/Dockerfile || die "deploy/Dockerfile has another cargo-${tool,,}"
  done
}

test_rules() {
  step "alert rules and their tests"
  promtool check rules deploy/prometheus/alerts.yml
  promtool test rules deploy/prometheus/tests/*.yml
}

test_unit() {
  step "unit, rated by systemd-analyze"
  systemd-analyze security --offline=true --no-pager --threshold="$MAX_EXPOSURE" deploy/systemd/jackpot.service |
    tail -n 1 || die "the unit's exposure is above $MAX_EXPOSURE tenths"
}

# The manifests and the Compose file, read by the programs that people use.
test_manifests() {
  local tools="$TOOLS_DIR/deploy/bin" compose_file
  step "Kubernetes manifests, Compose file, dashboards"
  same_versions
  cp -r deploy/kubernetes "$work/kubernetes"
  REDIS_URLS=redis://redis:6379 LEDGER_URL=postgres://sql/jackpot BINARY=$(realpath "$BINARY") \
    deploy/kubernetes/make-secrets.sh "$work/kubernetes/example/secrets"
  for overlay in base example; do
    "$tools/kubectl" kustomize "$work/kubernetes/$overlay" >"$work/$overlay.yaml"
  done
  "$tools/python" tests/deploy/kubernetes.py "$work/base.yaml" "$work/example.yaml"
  STACK_DIR="$work/checked" deploy/setup.sh
  for compose_file in "$tools/docker-compose" docker-compose; do
    have "$compose_file" || continue
    "$compose_file" --env-file "$work/checked/.env" --file deploy/compose.yml config --quiet
    say "deploy/compose.yml is valid for $("$compose_file" version --short)"
  done
  "$tools/python" tests/deploy/dashboards.py
}

test_images() {
  local tag size key address answer
  step "images"
  scripts/images.sh jackpot
  for tag in "jackpot:$VERSION" "jackpot:$VERSION-slim"; do
    size=$(($(docker image inspect --format '{{.Size}}' "$tag") / 1000000))
    ((size < MAX_IMAGE_MB)) || die "$tag has $size MB, and may have $MAX_IMAGE_MB"
  done
  start full --publish 127.0.0.1::8080 --health-interval 1s "jackpot:$VERSION"
  eventually "$READY_DEADLINE_S" "the image is healthy" is_healthy "$container"
  eventually "$READY_DEADLINE_S" "the image is ready" docker exec "$container" jackpot health --ready
  [[ $(docker exec "$container" jackpot --version) == "jackpot $VERSION" ]] || die "the image has another version"
  docker top "$container" -o user:20,pid,args >"$work/top"
  awk 'NR > 1 && $1 != 10001 { exit 1 }' "$work/top" ||
    die "a process of the image runs as another user: $(<"$work/top")"
  key=$(docker exec "$container" jackpot key new --role operate --name deploy)
  address=$(docker port "$container" 8080/tcp | head -n 1)
  eventually "$READY_DEADLINE_S" "the key counts" curl --silent --fail --header "Authorization: Bearer $key" \
    "http://$address/v1/jackpots"
  play_one "http://$address" "$key"
  docker cp "$container:/usr/share/doc/jackpot/sbom.cdx.json" "$work/sbom.json"
  python3 - "$work/sbom.json" "$VERSION" <<'PYTHON'
import json, sys
bom = json.load(open(sys.argv[1]))
names = {component["name"] for component in bom["components"]}
assert bom["bomFormat"] == "CycloneDX" and bom["metadata"]["component"]["version"] == sys.argv[2], "another program's"
assert {"actix-web", "redis", "tokio", "jackpot-core"} <= names and len(names) > 100, names
PYTHON
  # SIGTERM reaches the service, which stops its Redis; the entry is on disk.
  docker stop --time 30 "$container" >/dev/null
  [[ $(docker inspect --format '{{.State.ExitCode}}' "$container") == 0 ]] || die "SIGTERM ended the image badly"
  docker start "$container" >/dev/null
  address=$(docker port "$container" 8080/tcp | head -n 1)
  eventually "$READY_DEADLINE_S" "the image is ready again" docker exec "$container" jackpot health --ready
  [[ $(enter "http://$address" "$key") == 200 ]] || die "the entry is forgotten after a restart"
  answer=$(docker run --rm --read-only --tmpfs /tmp "jackpot:$VERSION-slim" 2>&1 || true)
  [[ $answer == *redis-server* ]] || die "the slim image should miss a redis-server: $answer"
}

# play_one URL KEY [CURL-OPTION…]: defines a jackpot and plays an entry, which must be new.
play_one() {
  local code url=$1 key=$2
  shift 2
  curl --silent --show-error --fail --output /dev/null --request PUT "$@" --header "Authorization: Bearer $key" \
    --json '{"id":"first","name":"First","currency":"EUR","contribution":{"fixed":1},"odds":{"total":1000,"ranks":[]},
      "tiers":[{"tier":"grand","share_ppm":1000000,"min_payout":1}]}' "$url/v1/jackpots/first"
  code=$(enter "$url" "$key" "$@")
  [[ $code == 201 ]] || die "an entry at $url got $code"
}

# enter URL KEY [CURL-OPTION…]: prints the status of the answer.
enter() {
  local url=$1 key=$2
  shift 2
  curl --silent --output /dev/null --write-out '%{http_code}' "$@" --header "Authorization: Bearer $key" \
    --json '{"entry_id":"one","player_id":"p1","stake":100}' "$url/v1/jackpots/first/entries"
}

simulate() {
  SSL_CERT_FILE="$STACK_DIR/secrets/ca.pem" "$BINARY" simulate --quiet --url "$url" --key "$key" "$@" >&2
}

# call METHOD PATH BODY: sends it to the stack, which must take it.
call() {
  local code
  code=$(curl --silent --output "$work/answer" --write-out '%{http_code}' --cacert "$STACK_DIR/secrets/ca.pem" \
    --request "$1" --header "Authorization: Bearer $key" --json "$3" "$url$2")
  [[ $code == 20? ]] || die "$1 $2 got $code: $(<"$work/answer")"
}

# owe: a payout that nobody settles, and a subscription whose target is not there.
owe() {
  call PUT /v1/jackpots/owed '{"id":"owed","name":"Owed","currency":"KRW","contribution":{"fixed":1},"settlement":"tracked",
    "tiers":[{"tier":"grand","share_ppm":1000000,"min_payout":1}],
    "odds":{"total":1,"ranks":[{"rank":1,"weight":1,"prize":{"pool":{"tier":"grand","take":"all"}}}]}}'
  call PUT /v1/subscriptions/away '{"target":{"webhook":{"url":"https://hooks.invalid/"}},"types":["payout.*"],
    "subjects":["jackpot:owed"],"from":"beginning"}'
  call POST /v1/jackpots/owed/entries '{"entry_id":"one","player_id":"p1","stake":100}'
}

# play_all: a load on a jackpot, a coupon and a room.
play_all() {
  owe
  simulate --entries 3000 --players 32 --winners 20 --collisions 2
  simulate --coupons --users 300 --stock 100 --connections 32
  simulate --room --users 150 --capacity 50 --session-s 2 --stay-ms 100
}

# play_on: plays until it is stopped. A rate needs two scrapes of one series, so each load lasts longer than two scrapes
# are apart, on a fast machine too. Each has a seed of its own, because its ids follow from the seed.
play_on() {
  local seed=1
  while :; do
    ((seed += 1))
    simulate --seed "$seed" --entries 200000 --players 16 --winners 16 --collisions 200
    simulate --seed "$seed" --coupons --users 20000 --stock 10000 --connections 16
    simulate --seed "$seed" --room --users 1500 --capacity 50 --session-s 2 --stay-ms 500
  done
}

stop_player() {
  [[ -n $player ]] || return 0
  pkill --parent "$player" 2>/dev/null || true
  kill "$player" 2>/dev/null || true
  wait "$player" 2>/dev/null || true
  player=
}

firing() {
  curl --silent --fail --get --data-urlencode \
    'query=ALERTS{alertname="JackpotInstanceDown",alertstate="firing"}' "$prometheus/api/v1/query" >"$work/alerts"
  grep -q '"metric"' "$work/alerts"
}
not_firing() { ! firing; }

# An instance with the settings, the user and the read-only secrets of the manifests, on Redis and SQL of the stack.
as_in_kubernetes() {
  local secrets="$work/pod-secrets" user arguments
  mkdir "$secrets"
  cp "$STACK_DIR"/secrets/{master_secret,signing_key,redis_urls,ledger_url} "$STACK_DIR/data/keys/keys.toml" "$secrets"
  user="$(id -u):$(id -g)"
  if [[ $EUID == 0 ]]; then
    user=10001:10001
    chown root:10001 "$secrets"/*
  fi
  chmod 0440 "$secrets"/*
  chmod 0755 "$work" "$secrets"
  mapfile -t arguments < <("$TOOLS_DIR/deploy/bin/python" -c 'import sys, yaml
print(*yaml.safe_load(open(sys.argv[1]))["spec"]["template"]["spec"]["containers"][0]["args"], sep="\n")' \
    deploy/kubernetes/base/deployment.yaml)
  start pod --user "$user" --tmpfs "/var/lib/jackpot:uid=${user%:*},gid=${user#*:},mode=0700" \
    --network "${COMPOSE_PROJECT_NAME}_stack" --env JACKPOT__REDIS__MODE=standalone \
    --volume "$secrets:/run/secrets/jackpot:ro" --volume "$PWD/deploy/kubernetes/base:/etc/jackpot/config:ro" \
    "jackpot:$VERSION-slim" "${arguments[@]}"
  eventually "$READY_DEADLINE_S" "an instance with the settings of the manifests is ready" \
    docker exec "$container" jackpot health --ready --config /etc/jackpot/config/production.toml
  docker stop --time 30 "$container" >/dev/null
}

test_stack() {
  local killed
  source deploy/lib.sh
  export COMPOSE_PROJECT_NAME="jackpot-deploy-$$" STACK_NET="172.30.$((RANDOM % 256))"
  STACK_DIR="$work/stack"
  export STACK_DIR
  step "stack"
  docker image inspect "jackpot:$VERSION-slim" >/dev/null 2>&1 || scripts/images.sh jackpot
  scripts/images.sh stack
  deploy/setup.sh
  # Ports that are free; a short time until Redis and the ledger are compared.
  printf '%s\n' HTTPS_ADDRESS=127.0.0.1: PROMETHEUS_ADDRESS=127.0.0.1: RECONCILE_INTERVAL_S=2 >>"$STACK_DIR/.env"
  stack=up
  compose up --detach 2>"$work/up" || die "the stack does not start: $(tail -n 20 "$work/up")"
  eventually "$READY_DEADLINE_S" "HAProxy is healthy" is_healthy "$(compose ps --quiet haproxy)"
  PLAY_ADDRESS=$(compose port haproxy 8443)
  export PLAY_ADDRESS
  url="https://localhost:${PLAY_ADDRESS##*:}"
  prometheus="http://$(compose port prometheus 9090)"
  key=$(cat "$STACK_DIR"/data/jackpot-[12]/operator.key | head -n 1)
  play_one "$url" "$key" --cacert "$STACK_DIR/secrets/ca.pem"
  say "one entry over TLS"
  curl --silent --include --cacert "$STACK_DIR/secrets/ca.pem" "$url/console/sign-in" |
    grep -qi '^set-cookie: jackpot_sign_in=.*; Secure' || die "the console's cookie over TLS is not kept to TLS"
  as_in_kubernetes

  step "a load, and every query of every dashboard"
  play_all
  compose exec -T prometheus promtool check config /etc/prometheus/prometheus.yml
  curl --silent --fail "http://$STACK_NET.11:9090/metrics" | promtool check metrics
  play_on 2>"$work/played" &
  player=$!
  "$TOOLS_DIR/deploy/bin/python" tests/deploy/dashboards.py "$prometheus"
  kill -0 "$player" 2>/dev/null || die "the load ended: $(tail -n 3 "$work/played")"
  stop_player

  step "an instance is killed under load, and Redis"
  deploy/play-and-kill.sh --entries 4000 --redis
  killed=$(compose ps --quiet jackpot-2)
  docker kill "$killed" >/dev/null
  # Meanwhile the package is made and tested.
  if [[ " ${parts[*]} " == *" package "* ]]; then test_package; fi
  step "an alert fires and resolves"
  eventually "$ALERT_DEADLINE_S" "JackpotInstanceDown fires" firing
  say "JackpotInstanceDown fires"
  docker start "$killed" >/dev/null
  eventually "$ALERT_DEADLINE_S" "JackpotInstanceDown is resolved" not_firing
  say "JackpotInstanceDown is resolved"
  compose down --volumes --timeout 10 >/dev/null 2>&1
  stack=
}

# In a container whose first process is systemd. It needs a few capabilities more than a container has.
test_package() {
  local deb
  [[ -z $package ]] || return 0
  package=tested
  step "Debian package"
  deb=$(scripts/deb.sh)
  scripts/images.sh debian
  containers+=("jackpot-deploy-debian-$$")
  docker run --detach --name "jackpot-deploy-debian-$$" --cap-add SYS_ADMIN --cap-add SYS_PTRACE --cap-add NET_ADMIN \
    --security-opt seccomp=unconfined --security-opt apparmor=unconfined --tmpfs /run --tmpfs /run/lock --tmpfs /tmp \
    --volume /sys/fs/cgroup:/sys/fs/cgroup --volume "$(realpath "$deb"):/in/jackpot.deb:ro" \
    --volume "$PWD/tests/deploy/package.sh:/in/package.sh:ro" "$DEBIAN_IMAGE" /lib/systemd/systemd >/dev/null
  docker exec "jackpot-deploy-debian-$$" bash /in/package.sh
}

if [[ -z ${BINARY:-} ]]; then
  cargo build --release --locked
  BINARY=target/release/jackpot
fi
export BINARY
scripts/install.sh deploy
missing=
for part in "${parts[@]}"; do
  case "$part" in
    rules | unit | manifests) ;;
    images | stack | package)
      if [[ -z $engine && -z $missing ]]; then
        if scripts/docker-up.sh; then engine=up; else missing=yes; fi
      fi
      [[ -z $missing ]] || continue
      ;;
    *) die "no part '$part'" ;;
  esac
  "test_$part"
done
if [[ -n $missing ]]; then
  [[ ${DEPLOY:-} != required ]] || die "no Docker engine: images, stack and package can't be tested"
  say "deployment: images, stack and package NOT EXERCISED: no Docker engine here"
else
  say "deployment: passed (${parts[*]})"
fi
