#!/bin/sh
# Waits until Redis can serve the instances: the replica follows its primary, or the six nodes are a cluster, which this
# makes at the first start. REDIS_MODE: standalone or cluster. STACK_NET: the first three parts of the addresses.
set -eu

DEADLINE_S=120
read -r REDISCLI_AUTH </run/secrets/redis_password
export REDISCLI_AUTH

# ask HOST COMMAND…
ask() {
  host=$1
  shift
  redis-cli -h "$STACK_NET.$host" "$@" 2>&1 || true
}

# until_has TEXT HOST COMMAND…: asks until the answer contains the text.
until_has() {
  text=$1
  shift
  tries=0
  while :; do
    answer=$(ask "$@")
    case $answer in *"$text"*) return 0 ;; esac
    tries=$((tries + 1))
    if [ "$tries" -ge "$DEADLINE_S" ]; then
      echo "no '$text' from $STACK_NET.$1: $answer" >&2
      exit 1
    fi
    sleep 1
  done
}

if [ "$REDIS_MODE" = standalone ]; then
  until_has state=online 20 INFO replication
  exit 0
fi
nodes=
for host in 21 22 23 24 25 26; do
  until_has PONG "$host" PING
  nodes="$nodes $STACK_NET.$host:6379"
done
case $(ask 21 CLUSTER INFO) in
  *cluster_known_nodes:1?[!0-9]*) is_new=yes ;;
  *) is_new=no ;;
esac
if [ "$is_new" = yes ]; then
  # shellcheck disable=SC2086  # one word for each node
  redis-cli --cluster create $nodes --cluster-replicas 1 --cluster-yes
  for host in 21 22 23; do until_has state=online "$host" INFO replication; done
fi
for host in 21 22 23 24 25 26; do until_has cluster_state:ok "$host" CLUSTER INFO; done
