# shellcheck shell=bash
# Functions of the scripts in deploy/. Source it, do not run it. It changes to the project's top directory.
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"

STACK_DIR=$(realpath -m "${STACK_DIR:-deploy}")

# compose ARGUMENT…: Docker Compose, version 2 or 1, on the stack in STACK_DIR. COMPOSE_MORE: a second file, which wins.
compose() {
  local files=(--file "$PWD/deploy/compose.yml")
  [[ -z ${COMPOSE_MORE:-} ]] || files+=(--file "$COMPOSE_MORE")
  if docker compose version >/dev/null 2>&1; then
    docker compose --env-file "$STACK_DIR/.env" "${files[@]}" "$@"
  elif have docker-compose; then
    docker-compose --env-file "$STACK_DIR/.env" "${files[@]}" "$@"
  else
    die "Docker Compose is missing: install its plugin, or the package docker-compose"
  fi
}
