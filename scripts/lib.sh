# shellcheck shell=bash
# Functions that all scripts use. Source it, do not run it. It changes to the project's top directory.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

# Tools that only this project needs are installed here, not on the user's system.
TOOLS_DIR="$PWD/target/tools"
# Appended, so that programs of the machine come first.
export PATH="$PATH:$TOOLS_DIR/bin:$TOOLS_DIR/valkey/usr/bin"

# The images of the tests. They have major versions only: without a registry, scripts/images.sh makes them from the
# machine's packages, and the minor version differs between distributions.
# shellcheck disable=SC2034  # used by the scripts that source this file
REDIS_IMAGE="redis:7"
# shellcheck disable=SC2034
VALKEY_IMAGE="valkey/valkey:8"
# shellcheck disable=SC2034
POSTGRES_IMAGE="postgres:15"
# The others of deploy/compose.yml, and the bases of deploy/Dockerfile; each file names them too.
# shellcheck disable=SC2034
HAPROXY_IMAGE="haproxy:2.6"
# shellcheck disable=SC2034
PROMETHEUS_IMAGE="prom/prometheus:v2.42.0"
# shellcheck disable=SC2034
RUST_IMAGE="rust:1.95-bookworm"
# shellcheck disable=SC2034
DEBIAN_SLIM_IMAGE="debian:bookworm-slim"
# Made here alone: Debian with what deploy/Dockerfile copies, and systemd.
# shellcheck disable=SC2034
DEBIAN_IMAGE="jackpot-made/debian:1"
# The password of servers that tests start. tests/it/support/postgres_local.rs has the same one.
# shellcheck disable=SC2034
POSTGRES_PASSWORD="of-the-tests"

say() { printf '%s\n' "$*" >&2; }
die() {
  say "error: $*"
  exit 1
}
# Prints the directory of initdb and postgres, which Debian does not put on PATH. Prints nothing if they are missing.
postgres_programs() {
  local program
  for program in "$(command -v initdb)" /usr/lib/postgresql/*/bin/initdb; do
    [[ -x $program ]] || continue
    program=$(dirname "$(readlink -f "$program")")
    [[ -x $program/postgres ]] && echo "$program" && return 0
  done
  return 1
}
have() { command -v "$1" >/dev/null 2>&1; }
docker_answers() { have docker && timeout 10 docker info >/dev/null 2>&1; }
