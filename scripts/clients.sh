#!/usr/bin/env bash
# clients.sh [generate|test|package]: the clients in clients/python and clients/typescript.
# generate: writes their generated parts anew, from docs/reference/openapi.json.
# test (default): the generated parts are fresh, types, unit tests, tests against the service; then package.
# package: builds wheel, sdist and npm tarball in target/clients, and makes an entry with each from an empty place.
# BINARY: the service (default: the release build). clients/ pins the tools; tests/api/ pins the generator for Python.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source scripts/service.sh

DESCRIPTION=docs/reference/openapi.json
PYTHON_GENERATED=clients/python/src/jackpot_client/generated
NODE_GENERATED=clients/typescript/src/generated
KEY_DEADLINE_S=10
work=$(mktemp -d)

clean_up() {
  stop_service
  rm -rf "$work"
}

step() { say "--- $*"; }

# generated DIRECTORY: makes both generated parts in DIRECTORY/python and DIRECTORY/typescript. Never in place, because
# the generators format by settings that they find above their output.
generated() {
  mkdir -p "$1/typescript"
  # It formats with ruff, which it looks for on PATH.
  PATH="$api:$PATH" RUFF_NO_CACHE=true openapi-python-client generate --path "$DESCRIPTION" --config clients/python/generator.yaml --meta none \
    --output-path "$1/python" --fail-on-warning >"$1/log" 2>&1 || die "openapi-python-client: $(<"$1/log")"
  "$node/openapi-typescript" "$DESCRIPTION" --output "$1/typescript/openapi.ts" >"$1/log" 2>&1 ||
    die "openapi-typescript: $(<"$1/log")"
}

generate() {
  generated "$work/generated"
  rm -rf "$PYTHON_GENERATED" "$NODE_GENERATED"
  cp -r "$work/generated/python" "$PYTHON_GENERATED"
  cp -r "$work/generated/typescript" "$NODE_GENERATED"
}

fresh() {
  step "generated parts"
  generated "$work/fresh"
  local language file versions
  for language in python typescript; do
    file=$PYTHON_GENERATED
    [[ $language == python ]] || file=$NODE_GENERATED
    diff --recursive --brief --exclude=__pycache__ "$work/fresh/$language" "$file" >&2 ||
      die "$file is not what $DESCRIPTION makes: run scripts/clients.sh generate"
    for file in LICENSE-MIT LICENSE-APACHE; do
      cmp --quiet "$file" "clients/$language/$file" || die "clients/$language/$file is not $file: copy it"
    done
  done
  versions="$(sed -nE 's/^__version__ = "(.*)"/\1/p' clients/python/src/jackpot_client/version.py)"
  versions+=" $(node -p 'require("./clients/typescript/package.json").version')"
  [[ ${versions% *} == "${versions#* }" ]] || die "the clients have different versions: $versions"
}

# start_service: starts it with the sample jackpot, and makes a key for each role.
start_service() {
  if [[ -z ${BINARY:-} ]]; then
    cargo build --release --locked
    BINARY=target/release/jackpot
  fi
  export JACKPOT__JACKPOTS__DIRECTORY="$PWD/config/jackpots"
  serve "$work"
  curl -sSf "$url/openapi.json" >"$work/openapi.json"
  "$python/python" -c 'import json, sys; a, b = (json.load(open(path)) for path in sys.argv[1:]); sys.exit(a != b)' \
    "$DESCRIPTION" "$work/openapi.json" ||
    die "$BINARY has another description than $DESCRIPTION: build it, or run UPDATE_DOCS=1 cargo nextest run --test it docs::"
  export JACKPOT_TEST_URL=$url JACKPOT_TEST_PID=$service JACKPOT_TEST_OPERATE_KEY=$key
  local role
  for role in play read; do
    key=$(JACKPOT__DATA_DIR="$work/data" "$BINARY" key new --role "$role" --name "$role" 2>>"$work/log")
    export "JACKPOT_TEST_${role^^}_KEY=$key"
  done
  # The service reads a new key within 2 s. Any other answer than 401 means that it knows the key.
  local deadline=$((SECONDS + KEY_DEADLINE_S))
  until [[ $(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $key" "$url/v1/jackpots") == 200 ]]; do
    ((SECONDS < deadline)) || die "the service does not know its new keys"
    sleep 0.1
  done
}

check_python() {
  step "Python: style and types"
  (cd clients/python && "$api/ruff" check --no-cache . && "$api/ruff" format --no-cache --check --quiet . &&
    "$python/mypy" --cache-dir "$TOOLS_DIR/clients/mypy") >&2
  step "Python: tests"
  (cd clients/python && PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=src "$python/python" -m pytest --quiet) >&2
}

build_node() {
  rm -rf clients/typescript/dist clients/typescript/build
  "$node/tsc" --project clients/typescript/tsconfig.build.json >&2
}

check_node() {
  step "TypeScript: types"
  build_node
  "$node/tsc" --project clients/typescript/tsconfig.json >&2
  step "TypeScript: tests"
  node --test --test-concurrency=1 --test-reporter=dot clients/typescript/build/test/*.test.js >&2
}

# code LANGUAGE FILE: the first block of this language in a document.
code() { awk -v start="\`\`\`$1" '$0 == start { on = 1; next } /^```/ { if (on) exit } on' "$2"; }

# The first program of each README and of the how-to, with nothing installed but the package and what it asks for.
package() {
  step "packages"
  local out=$PWD/target/clients wheels=$TOOLS_DIR/clients/wheels kind place
  rm -rf "$out"
  mkdir -p "$out"
  export JACKPOT_URL=$JACKPOT_TEST_URL JACKPOT_KEY=$JACKPOT_TEST_PLAY_KEY
  "$python/python" -m build --no-isolation --outdir "$out" clients/python >"$work/log-build" 2>&1 ||
    die "the wheel was not built: $(tail -n 20 "$work/log-build")"
  for kind in whl tar.gz; do
    place=$work/$kind
    python3 -m venv --without-pip "$place"
    # Without an index: the environment gets the pinned packages that the package itself asks for.
    "$python/pip" --python "$place/bin/python" install --quiet --no-index --find-links "$wheels" "$out"/*."$kind"
    code python clients/python/README.md >"$place/first.py"
    (cd "$place" && bin/python first.py) >"$place/out"
    grep -q '^round-1-p7 ' "$place/out" || die "the $kind made no entry: $(<"$place/out")"
    code python docs/how-to/write-a-game-back-end.md >"$place/game.py"
    (cd "$place" && bin/python game.py) >"$place/out"
    grep -q '^a spin is done$' "$place/out" || die "the game back end of the documentation: $(<"$place/out")"
  done
  build_node
  (cd clients/typescript && npm pack --silent --ignore-scripts --pack-destination "$out") >/dev/null
  place=$work/npm
  mkdir "$place"
  (cd "$place" && echo '{"type":"module"}' >package.json &&
    npm install --silent --offline --ignore-scripts --no-audit --no-fund "$out"/jackpot-client-*.tgz)
  code js clients/typescript/README.md >"$place/first.js"
  (cd "$place" && node first.js) >"$place/out"
  grep -q '^round-1-p7 ' "$place/out" || die "the tarball made no entry: $(<"$place/out")"
  say "in target/clients: $(cd "$out" && echo *)"
}

command=${1:-test}
[[ $command == generate || $command == test || $command == package ]] ||
  die "usage: scripts/clients.sh [generate|test|package]"
scripts/install.sh clients
api="$TOOLS_DIR/api/bin"
python="$TOOLS_DIR/clients/python/bin"
node="$PWD/clients/typescript/node_modules/.bin"
trap clean_up EXIT
if [[ $command == generate ]]; then
  generate
  exit 0
fi
[[ $command == package ]] || fresh
start_service
if [[ $command == test ]]; then
  check_python
  check_node
fi
package
say "the clients agree with the service"
