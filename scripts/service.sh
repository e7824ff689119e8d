# shellcheck shell=bash
# Functions of scripts that check a running service. Source it after lib.sh, do not run it.

START_DEADLINE_S=60
service=

# serve WORK: starts $BINARY with its data in WORK/data and its log in WORK/log. The listener takes a free port, which
# this reads from the log. The address is in $url, the operator's key in $key, the process id in $service.
serve() {
  JACKPOT__HTTP__LISTEN=127.0.0.1:0 JACKPOT__DATA_DIR="$1/data" "$BINARY" serve >"$1/log" 2>&1 &
  service=$!
  local deadline=$((SECONDS + START_DEADLINE_S)) address=
  until [[ -n $address ]] && curl -sf "http://$address/readyz" >/dev/null; do
    kill -0 "$service" 2>/dev/null || die "the service ended: $(tail -n 5 "$1/log")"
    ((SECONDS < deadline)) || die "the service is not ready: $(tail -n 5 "$1/log")"
    sleep 0.1
    address=$(grep -oE '127\.0\.0\.1:[0-9]+' "$1/log" | head -n 1 || true)
  done
  # shellcheck disable=SC2034  # used by the scripts that source this file
  url="http://$address"
  # shellcheck disable=SC2034
  key=$(<"$1/data/operator.key")
}

stop_service() {
  [[ -n $service ]] || return 0
  kill "$service" 2>/dev/null || true
  wait "$service" 2>/dev/null || true
  service=
}
