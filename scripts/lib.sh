# shellcheck shell=bash
# What the scripts share. Sourced, never run; it leaves the caller in the project's top directory.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

# Tools that only this project needs live here, so that the user's machine stays clean.
TOOLS_DIR="$PWD/target/tools"
# Appended, not prepended: what the machine already has wins.
export PATH="$PATH:$TOOLS_DIR/bin:$TOOLS_DIR/valkey/usr/bin"

# The images the tests run on. Major versions only: where a pull is impossible, the image is made from the
# machine's packages, and their minor version differs from one distribution to the next.
# shellcheck disable=SC2034  # used by the scripts that source this file
REDIS_IMAGE="redis:7"
# shellcheck disable=SC2034
VALKEY_IMAGE="valkey/valkey:8"
# shellcheck disable=SC2034
POSTGRES_IMAGE="postgres:15"
# Of the servers that tests start; tests/it/support/postgres_local.rs has the same.
# shellcheck disable=SC2034
POSTGRES_PASSWORD="of-the-tests"

say() { printf '%s\n' "$*" >&2; }
die() {
  say "error: $*"
  exit 1
}
# Where Debian and others put initdb and postgres: not on PATH. Empty when they are not there.
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
