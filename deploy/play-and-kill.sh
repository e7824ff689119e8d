#!/usr/bin/env bash
# play-and-kill.sh [--entries N] [--redis]: plays entries over TLS through the balancer of the running stack, kills an
# instance meanwhile (--redis: also the primary Redis), and proves that every acknowledged entry counts once:
# - each entry has an answer, and the answers' sequences are 1 to N, each once,
# - the jackpot's meters have exactly N contributions, which are in its pool or were paid,
# - Redis and the ledger agree on them.
# Players repeat an entry with the same id until it is answered, as game back ends do. It needs curl and docker.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

PLAYERS=4
REPEAT_S=120
AGREE_DEADLINE_S=90
entries=2000
kill_redis=
while (($#)); do
  case "$1" in
    --entries) entries=${2:?a number} && shift ;;
    --redis) kill_redis=yes ;;
    *) die "usage: deploy/play-and-kill.sh [--entries N] [--redis]" ;;
  esac
  shift
done

url=https://${PLAY_ADDRESS:-127.0.0.1:8443}
cat_key() { cat "$STACK_DIR"/data/jackpot-[12]/operator.key | head -n 1; }
key=$(cat_key) || die "no operator.key below $STACK_DIR/data: is the stack up, and are you the user who ran setup.sh?"
work=$(mktemp -d)
players=()
clean_up() {
  ((${#players[@]})) && kill "${players[@]}" 2>/dev/null
  rm -rf "$work"
}
trap clean_up EXIT
printf 'cacert = "%s"\nheader = "Authorization: Bearer %s"\nheader = "Content-Type: application/json"\n' \
  "$STACK_DIR/secrets/ca.pem" "$key" >"$work/always"
# A refused, lost or 5xx answer is asked for again with the same body.
printf '%s\n' >>"$work/always" \
  silent fail retry-all-errors 'retry = 1000' 'retry-delay = 1' 'max-time = 10' "retry-max-time = $REPEAT_S"

# call METHOD PATH [BODY]
call() { curl --config "$work/always" --request "$1" ${3:+--data "$3"} "$url/v1$2"; }

# number NAME: this field of the JSON on standard input; its first one.
number() { grep -oE "\"$1\":[0-9]+" | head -n 1 | grep -oE '[0-9]+$'; }

# container SERVICE: its id.
container() { compose ps --quiet "$1"; }

# The pool is paid now and then, so that claims are under way when the instance dies.
jackpot="drill-$(date +%s)"
cat >"$work/definition" <<JSON
{"id": "$jackpot", "name": "Drill", "currency": "EUR", "contribution": {"fixed": 1},
 "tiers": [{"tier": "grand", "share_ppm": 1000000, "min_payout": 1}],
 "odds": {"total": 20, "ranks": [{"rank": 1, "weight": 1, "prize": {"pool": {"tier": "grand", "take": "all"}}}]}}
JSON
call PUT "/jackpots/$jackpot" "@$work/definition" >/dev/null

mkdir "$work/answers"
for ((player = 0; player < PLAYERS; player++)); do
  for ((n = player; n < entries; n += PLAYERS)); do
    cat "$work/always"
    printf 'url = "%s/v1/jackpots/%s/entries"\noutput = "%s/answers/%d"\nwrite-out = "%%{http_code}\\n"\n' \
      "$url" "$jackpot" "$work" "$n"
    printf 'data = "{\\"entry_id\\":\\"e-%d\\",\\"player_id\\":\\"p-%d\\",\\"stake\\":100}"\nnext\n' "$n" "$player"
  done | sed '$d' >"$work/player-$player"
  curl --config "$work/player-$player" >"$work/codes-$player" 2>"$work/errors-$player" &
  players+=($!)
done

answered() { find "$work/answers" -type f | wc -l; }
# kill_at SHARE SERVICE: kills the container when this percentage of the entries is answered, and starts it again.
kill_at() {
  local id
  until (($(answered) * 100 >= entries * $1)); do
    kill -0 "${players[@]}" 2>/dev/null || break
    sleep 0.1
  done
  id=$(container "$2")
  docker kill "$id" >/dev/null
  say "killed $2 with $(answered) of $entries entries under way or answered"
  sleep 1
  docker start "$id" >/dev/null
}
kill_at 25 jackpot-1
[[ -z $kill_redis ]] || kill_at 50 redis
for player in "${players[@]}"; do
  wait "$player" || die "a player got no answer for $REPEAT_S s: $(tail -n 2 "$work"/errors-*)"
done
players=()

taken=$(cat "$work"/codes-* | grep -c '^20[01]$' || true)
different=$(grep -ohE '"sequence":[0-9]+' "$work"/answers/* | sort -u | wc -l)
highest=$(grep -ohE '"sequence":[0-9]+' "$work"/answers/* | grep -oE '[0-9]+$' | sort -n | tail -n 1)
say "acknowledged: $taken; different sequences: $different, the highest $highest"
((taken == entries && different == entries && highest == entries)) ||
  die "an acknowledged entry is missing or counts twice"

call GET "/jackpots/$jackpot" >"$work/jackpot"
contributed=$(number contributed <"$work/jackpot")
pool=$(number pool <"$work/jackpot")
paid=$(number paid <"$work/jackpot")
say "contributed: $contributed = pool $pool + paid $paid"
((contributed == entries && pool + paid == entries)) ||
  die "the meters do not have each entry once: $(<"$work/jackpot")"

# The last comparison of the service, which it makes now and then. The terms of the ledger are sums over its events.
in_both="{\"term\":\"contributions\",\"redis\":$entries,\"ledger\":$entries}"
deadline=$((SECONDS + AGREE_DEADLINE_S))
until
  call GET /reconciliation 2>/dev/null >"$work/compared" || true
  sed 's/{"jackpot_id"/\n&/g' "$work/compared" | grep "^{\"jackpot_id\":\"$jackpot\".*\"clean\":true" |
    grep -qF "$in_both"
do
  ((SECONDS < deadline)) || die "Redis and the ledger do not agree on $entries contributions: $(<"$work/compared")"
  sleep 1
done
say "Redis and the ledger agree on $entries contributions: every acknowledged entry counts once"
