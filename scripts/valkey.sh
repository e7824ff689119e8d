#!/usr/bin/env bash
# Puts a valkey-server into target/tools/valkey if the machine has none. It unpacks the package and installs nothing. Exit 1
# if there is no package.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

have valkey-server && exit 0
have apt-get && have dpkg-deb || exit 1
DEST="$TOOLS_DIR/valkey"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fetch APT-OPTION…: downloads and unpacks the packages; false if apt has none or the program does not run here.
fetch() {
  (cd "$work" && rm -f ./*.deb && apt-get "$@" download valkey-server valkey-tools) >/dev/null 2>&1 || return 1
  mkdir -p "$DEST"
  for package in "$work"/*.deb; do dpkg-deb -x "$package" "$DEST"; done
  "$DEST/usr/bin/valkey-server" --version >/dev/null 2>&1 && return 0
  rm -rf "$DEST"
  return 1
}

# Debian 12 has Valkey in its backports. This reads them with package lists of its own and leaves the machine's unchanged.
fetch_from_backports() {
  # shellcheck source=/dev/null
  local suite && suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  [[ $suite == bookworm ]] || return 1
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite-backports main" \
    >"$work/sources.list"
  local options=(-o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists"
    -o "Dir::Cache=$work/cache" -o "APT::Sandbox::User=$(id -un)")
  apt-get "${options[@]}" update >/dev/null 2>&1 && fetch "${options[@]}"
}

fetch || fetch_from_backports || exit 1
say "unpacked $("$DEST/usr/bin/valkey-server" --version | cut -c 1-21) into target/tools/valkey"
