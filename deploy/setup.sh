#!/usr/bin/env bash
# setup.sh [--redis replica|cluster] [--host NAME]…: prepares the stack of deploy/compose.yml on this machine: random
# passwords and secrets, a certificate for localhost and the given names, directories for the data, and .env.
# What exists stays. STACK_DIR: the directory for all of it (default: deploy).
set -euo pipefail
source "$(dirname "$0")/lib.sh"

CERTIFICATE_DAYS=365
redis=replica
names=(localhost)
while (($#)); do
  case "$1" in
    --redis) redis=${2:-} ;;
    --host) names+=("${2:-}") ;;
    *) die "usage: deploy/setup.sh [--redis replica|cluster] [--host NAME]…" ;;
  esac
  shift $(($# < 2 ? $# : 2))
done
[[ $redis == replica || $redis == cluster ]] || die "--redis takes replica or cluster"
have openssl || die "openssl is missing"

net=${STACK_NET:-172.30.40}
# The programs of the stack run as this user, who owns their files. For root it is the image's own user.
uid=$(id -u)
gid=$(id -g)
if [[ $uid == 0 ]]; then uid=10001 gid=10001; fi

umask 077
mkdir -p "$STACK_DIR"/secrets "$STACK_DIR"/data/{jackpot-1,jackpot-2,keys,postgres,prometheus,grafana} \
  "$STACK_DIR"/data/{redis,redis-replica,redis-1,redis-2,redis-3,redis-4,redis-5,redis-6}
cd "$STACK_DIR/secrets"

# once NAME: writes standard input to the secret, unless it exists.
once() {
  local text
  text=$(cat)
  [[ -e $1 ]] || printf '%s\n' "$text" >"$1"
}

openssl rand -hex 32 | once master_secret
openssl rand -hex 32 | once signing_key
openssl rand -hex 24 | once redis_password
openssl rand -hex 24 | once postgres_password
openssl rand -hex 24 | once grafana_password
once redis_conf <<CONF
requirepass $(<redis_password)
masterauth $(<redis_password)
dir /data
appendonly yes
appendfsync always
save ""
maxmemory ${REDIS_MAXMEMORY:-1gb}
maxmemory-policy noeviction
hash-max-listpack-entries 64
CONF
once ledger_url <<<"postgres://jackpot:$(<postgres_password)@$net.14:5432/jackpot"
# Written each time, because it follows from --redis.
hosts=(20)
[[ $redis == cluster ]] && hosts=(21 22 23 24 25 26)
printf "redis://:$(<redis_password)@$net.%s:6379\n" "${hosts[@]}" >redis_urls
if [[ ! -e tls_pem ]]; then
  # An authority of this stack alone signs the certificate, and its key is thrown away.
  new_key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
  openssl req -x509 "${new_key[@]}" -days "$CERTIFICATE_DAYS" -subj "/CN=Jackpot stack" -keyout ca.key -out ca.pem \
    2>/dev/null
  openssl req "${new_key[@]}" -subj /CN=jackpot -keyout key.pem -out request.pem 2>/dev/null
  printf '%s\n' "subjectAltName=IP:127.0.0.1$(printf ',DNS:%s' "${names[@]}")" basicConstraints=critical,CA:FALSE \
    extendedKeyUsage=serverAuth >extensions
  openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -set_serial "0x$(openssl rand -hex 8)" \
    -days "$CERTIFICATE_DAYS" -extfile extensions -out cert.pem 2>/dev/null
  cat cert.pem key.pem >tls_pem
  rm ca.key key.pem request.pem extensions cert.pem
fi

# Lines that were added by hand stay.
made='^(COMPOSE_PROJECT_NAME|COMPOSE_PROFILES|REDIS_MODE|STACK_[A-Z]+)='
added=$(grep -vE "$made" "$STACK_DIR/.env" 2>/dev/null || true)
cat >"$STACK_DIR/.env" <<ENV
COMPOSE_PROJECT_NAME=${COMPOSE_PROJECT_NAME:-jackpot}
COMPOSE_PROFILES=$redis
REDIS_MODE=$([[ $redis == cluster ]] && echo cluster || echo standalone)
STACK_DIR=$STACK_DIR
STACK_NET=$net
STACK_UID=$uid
STACK_GID=$gid
$added
ENV
if [[ $EUID == 0 ]]; then chown -R "$uid:$gid" "$STACK_DIR/secrets" "$STACK_DIR/data"; fi
say "prepared $STACK_DIR; clients trust $STACK_DIR/secrets/ca.pem"
