#!/usr/bin/env bash
# Stops the Docker engine that docker-up.sh started, unless another container runs on it.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

PIDFILE="$TOOLS_DIR/dockerd/pid"
STOP_DEADLINE_S=20

[[ -s $PIDFILE ]] || exit 0
pid=$(<"$PIDFILE")
# After a restart of the machine, another process may have this number.
if [[ $(cat "/proc/$pid/comm" 2>/dev/null) != dockerd ]]; then
  rm -f "$PIDFILE"
  exit 0
fi
if [[ -n $(timeout 10 docker ps --quiet 2>/dev/null) ]]; then
  say "left the Docker engine running: containers are using it"
  exit 0
fi
kill "$pid"
deadline=$((SECONDS + STOP_DEADLINE_S))
while kill -0 "$pid" 2>/dev/null; do
  ((SECONDS < deadline)) || die "the Docker engine (pid $pid) did not stop within $STOP_DEADLINE_S s"
  sleep 0.2
done
rm -f "$PIDFILE"
