#!/usr/bin/env bash
# install.sh run|test|api|clients|bench|lint|mutants|sbom|deb|deploy: installs what this command needs and the machine
# lacks. Prints nothing if nothing is missing.
# System packages come from apt-get (Debian, Ubuntu); cargo tools go to target/tools, pinned.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

# Pinned, because a new version may have new lints, and they must not fail a build.
NEXTEST_VERSION=0.9.143
STYLUA_VERSION=2.6.0
DENY_VERSION=0.20.2
MUTANTS_VERSION=27.1.0
# deploy/Dockerfile has the same versions.
AUDITABLE_VERSION=0.7.7
CYCLONEDX_VERSION=0.5.9
DEB_VERSION=3.8.0

packages=()

# want PROGRAM PACKAGE: adds the package if the program is missing.
want() { have "$1" || packages+=("$2"); }

as_root() {
  if [[ $EUID -eq 0 ]]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

install_packages() {
  ((${#packages[@]})) || return 0
  have apt-get || die "missing: ${packages[*]}, and there is no apt-get here. Install them with this system's package manager."
  [[ $EUID -eq 0 ]] || have sudo || die "missing, and only root can install them: apt-get install ${packages[*]}"
  say "installing: ${packages[*]}"
  local options=(-y -qq --no-install-recommends)
  # Fetches the package lists only if they are missing or stale.
  as_root apt-get install "${options[@]}" "${packages[@]}" >/dev/null 2>&1 && return 0
  as_root apt-get update -qq >&2
  as_root apt-get install "${options[@]}" "${packages[@]}" >&2 || die "apt-get could not install: ${packages[*]}"
}

# cargo_tool PROGRAM VERSION [OPTION…]: builds it unoptimised, because an optimised build takes longer than it saves.
cargo_tool() {
  local program=$1 version=$2
  shift 2
  have "$program" && return 0
  say "building $program $version into target/tools (once, some minutes)"
  CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug --root "$TOOLS_DIR" --target-dir "$TOOLS_DIR/build" \
    --version "$version" "$@" "$program" || die "could not build $program $version"
}

# The tests of the waiting page use a headless browser. tests/it/support/browser.rs has the same names.
browser() {
  local name
  have chromedriver && for name in chromium chromium-browser google-chrome google-chrome-stable; do
    have "$name" && return 0
  done
  # Ubuntu's packages only install a snap, which cannot read the tests' files or directory.
  if grep -qs '^ID=ubuntu' /etc/os-release; then
    say "the tests of the waiting page need Google Chrome and its chromedriver on PATH: Ubuntu has no package of them"
  else
    packages+=(chromium chromium-driver)
  fi
}

# Tools that are installed in a Python environment of their own, and no others.
python_packages() {
  want python3 python3
  have python3 && ! python3 -c 'import ensurepip, venv' 2>/dev/null && packages+=(python3-venv)
  return 0
}
# python_tools [SET]: the tools of tests/SET/requirements.txt.
python_tools() {
  local lock="tests/${1:-api}/requirements.txt" home="$TOOLS_DIR/${1:-api}"
  cmp --quiet "$lock" "$home/requirements.txt" && return 0
  say "installing the tools of $lock into $home (once)"
  python3 -m venv --clear "$home" || die "no Python environment: install python3-venv"
  "$home/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement "$lock" ||
    die "pip could not install $lock"
  cp "$lock" "$home/requirements.txt"
}

node_packages() {
  want node nodejs
  want npm npm
}
# node_tools FOLDER HOME: installs what the lock file of a folder names.
node_tools() {
  local folder=$1 lock=package-lock.json home="$TOOLS_DIR/$2"
  cmp --quiet "$folder/$lock" "$home/$lock" && [[ -d $home/node_modules ]] && return 0
  say "installing the tools of $folder/$lock into $home (once)"
  mkdir -p "$home"
  cp "$folder/package.json" "$folder/$lock" "$home/"
  npm ci --prefix "$home" --ignore-scripts --no-audit --no-fund --silent || {
    rm -f "$home/$lock"
    die "npm could not install $folder/$lock"
  }
}

# What builds and checks the clients. The wheels stay, so that a package can be installed without an index.
client_tools() {
  local lock=clients/python/requirements-dev.txt home="$TOOLS_DIR/clients"
  if ! cmp --quiet "$lock" "$home/requirements-dev.txt"; then
    say "installing the tools of $lock into $home (once)"
    rm -rf "$home"
    python3 -m venv "$home/python" || die "no Python environment: install python3-venv"
    "$home/python/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
      --require-hashes --requirement "$lock" --dest "$home/wheels" || die "pip could not download $lock"
    "$home/python/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --find-links "$home/wheels" \
      --require-hashes --requirement "$lock" || die "pip could not install $lock"
    cp "$lock" "$home/requirements-dev.txt"
  fi
  local folder=clients/typescript installed=clients/typescript/node_modules/.lock
  if ! cmp --quiet "$folder/package-lock.json" "$installed"; then
    say "installing the tools of $folder/package-lock.json (once)"
    npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --silent ||
      die "npm could not install $folder/package-lock.json"
    cp "$folder/package-lock.json" "$installed"
  fi
}

compiler_and_server() {
  have rustup || have cargo || die "Rust is missing: see https://rustup.rs"
  want cc build-essential
  want curl curl
  have redis-server || have valkey-server || packages+=(redis-server)
}

engine_packages() {
  # Only root can start a Docker engine. Other users need one that answers, or use local servers.
  if [[ $EUID -eq 0 ]] && ! docker_answers; then
    want dockerd docker.io
    want docker docker.io
    want iptables iptables
  fi
}

case "${1:-}" in
  run)
    compiler_and_server
    install_packages
    ;;
  test)
    compiler_and_server
    # The cluster tests start redis-server and redis-cli by name.
    want redis-server redis-server
    want redis-cli redis-tools
    python_packages
    # The black-box checks over TLS need a TLS client and make a certificate.
    want stunnel stunnel4
    want openssl openssl
    want nats-server nats-server
    postgres_programs >/dev/null || packages+=(postgresql)
    # setpriv starts PostgreSQL as a user other than root, and ends it with the test.
    want setpriv util-linux
    PATH="$PATH:/usr/sbin" want pgbouncer pgbouncer
    # Checks that each script declares all that it uses.
    want luacheck lua-check
    browser
    node_packages
    engine_packages
    install_packages
    python_tools
    # A broker that is compatible with Kafka.
    python_tools brokers
    # What looks at the pages for barriers.
    node_tools tests/pages pages
    # What compiles the receiver of docs/how-to/receive-events.md.
    node_tools tests/receivers receivers
    cargo_tool cargo-nextest "$NEXTEST_VERSION"
    ;;
  api)
    want curl curl
    python_packages
    node_packages
    install_packages
    python_tools
    node_tools tests/api node
    ;;
  clients)
    want curl curl
    python_packages
    node_packages
    install_packages
    python_tools
    client_tools
    ;;
  bench)
    compiler_and_server
    # On Debian the server's package has pgbench, beside initdb.
    postgres_programs >/dev/null || packages+=(postgresql)
    want setpriv util-linux
    want redis-benchmark redis-tools
    want wrk wrk
    # The brokers that get events.
    want nats-server nats-server
    python_packages
    install_packages
    python_tools brokers
    ;;
  lint)
    want cc build-essential
    want git git
    want luacheck lua-check
    want shellcheck shellcheck
    install_packages
    cargo_tool stylua "$STYLUA_VERSION" --no-default-features
    cargo_tool cargo-deny "$DENY_VERSION"
    ;;
  mutants)
    # What says whether a mutant is still Lua.
    want luac5.1 lua5.1
    install_packages
    cargo_tool cargo-mutants "$MUTANTS_VERSION"
    ;;
  sbom)
    want cc build-essential
    install_packages
    cargo_tool cargo-cyclonedx "$CYCLONEDX_VERSION"
    ;;
  deb)
    # dpkg-shlibdeps finds the packages of the libraries that the program loads.
    want dpkg-shlibdeps dpkg-dev
    install_packages
    cargo_tool cargo-auditable "$AUDITABLE_VERSION"
    cargo_tool cargo-cyclonedx "$CYCLONEDX_VERSION"
    cargo_tool cargo-deb "$DEB_VERSION"
    ;;
  deploy)
    engine_packages
    docker compose version >/dev/null 2>&1 || want docker-compose docker-compose
    want mmdebstrap mmdebstrap
    want haproxy haproxy
    want prometheus prometheus
    want promtool prometheus
    want redis-server redis-server
    want redis-cli redis-tools
    want openssl openssl
    want curl curl
    want systemd-analyze systemd
    postgres_programs >/dev/null || packages+=(postgresql)
    python_packages
    install_packages
    python_tools deploy
    ;;
  *) die "usage: scripts/install.sh run|test|api|clients|bench|lint|mutants|sbom|deb|deploy" ;;
esac
