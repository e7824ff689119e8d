#!/usr/bin/env bash
# tls-front.sh ARGUMENTS: replaces the service's binary for the black-box checks, so that their plain HTTP reaches its TLS
# listener. With `serve`, the service listens with TLS on another port. stunnel, a TLS client, listens on the port that the
# checks use. TLS_FRONT_BINARY: the service. TLS_FRONT_DIR: holds a certificate (cert.pem, key.pem) and stunnel's files.
set -euo pipefail

if [[ ${1:-} != serve ]]; then exec "$TLS_FRONT_BINARY" "$@"; fi

port=${JACKPOT__HTTP__LISTEN##*:}
front="$TLS_FRONT_DIR/$port"
mkdir -p "$front"

# A check may start the service again on the same port. Then stunnel and its target stay.
if [[ ! -s $front/target ]]; then
  # Outside the system's range of client ports, so that no connection takes the port while the service is down.
  for _ in {1..100}; do
    target=$((RANDOM % 20000 + 10000))
    (exec 3<>"/dev/tcp/127.0.0.1/$target") 2>/dev/null || break
  done
  cat >"$front/stunnel.conf" <<CONF
pid = $front/stunnel.pid
output = $front/stunnel.log
[jackpot]
client = yes
accept = 127.0.0.1:$port
connect = 127.0.0.1:$target
CAfile = $TLS_FRONT_DIR/cert.pem
verifyChain = yes
checkIP = 127.0.0.1
CONF
  stunnel "$front/stunnel.conf"
  echo "$target" >"$front/target"
fi

JACKPOT__HTTP__LISTEN="127.0.0.1:$(<"$front/target")"
export JACKPOT__HTTP__LISTEN
export JACKPOT__HTTP__TLS_CERT_FILE="$TLS_FRONT_DIR/cert.pem" JACKPOT__HTTP__TLS_KEY_FILE="$TLS_FRONT_DIR/key.pem"
# In the same process, so that a check that kills this script kills the service.
exec "$TLS_FRONT_BINARY" "$@"
