#!/usr/bin/env bash
# Starts a Docker engine if none answers. Exit 0: an engine answers. Exit 1: none does; the reason is printed.
# docker-down.sh stops an engine that this script started, and no other.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

STATE="$TOOLS_DIR/dockerd"
START_DEADLINE_S=30

docker_answers && exit 0
have docker || { say "no docker command here"; exit 1; }
if [[ -n ${DOCKER_HOST:-} ]]; then
  say "DOCKER_HOST is set to $DOCKER_HOST, and nothing answers there"
  exit 1
fi
if [[ $EUID -ne 0 ]]; then
  say "no Docker engine answers, and only root can start one"
  exit 1
fi
have dockerd || { say "no dockerd here"; exit 1; }
mkdir -p "$STATE"

# start OPTION…: starts dockerd with these options; true if it answers in time.
start() {
  # In a session of its own, so that Ctrl-C ends the tests before their servers.
  setsid dockerd --pidfile "$STATE/pid" "$@" >"$STATE/log" 2>&1 </dev/null &
  local child=$!
  local deadline=$((SECONDS + START_DEADLINE_S))
  until docker_answers; do
    if ! kill -0 "$child" 2>/dev/null || ((SECONDS >= deadline)); then
      kill "$child" 2>/dev/null || true
      wait "$child" 2>/dev/null || true
      return 1
    fi
    sleep 0.2
  done
  disown "$child"
}

# Tries the default options first. A sandbox without netfilter has no iptables, and one without overlayfs needs vfs.
# Published ports still work there, through docker's own proxy.
if start || start --iptables=false --ip6tables=false --storage-driver=vfs; then
  say "started a Docker engine"
else
  say "the Docker engine did not start: $(grep -E 'level=(error|fatal)|failed' "$STATE/log" | tail -n 1)"
  exit 1
fi
