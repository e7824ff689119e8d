#!/usr/bin/env bash
# Checks the service against the API description: validators, schemathesis and a generated client.
# BINARY: the service (default: the release build). EXAMPLES: number of examples for each operation (default: 100).
# The tools are for Python and Node. tests/api/ pins them with their hashes; they are installed in target/tools.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source scripts/service.sh

EXAMPLES=${EXAMPLES:-100}
# schemathesis sends wrong keys as fast as it can, and each of them must get 401.
export JACKPOT__AUTH__FAILED_KEYS_PER_SECOND_PER_ADDRESS=0
work=$(mktemp -d)

clean_up() {
  stop_service
  rm -rf "$work"
}

step() { say "--- $*"; }

# Creates the subjects that the description's examples and links name.
seed() {
  local path
  for path in coupons/coffee rooms/lobby jackpots/spring; do
    "$python" tests/api/example.py "$work/openapi.json" "/v1/${path%/*}/{id}" >"$work/body.json"
    curl -sSf -X PUT -H "Authorization: Bearer $key" -H 'Content-Type: application/json' --data "@$work/body.json" \
      "$url/v1/$path" >/dev/null
  done
  sed 's/"id": "spring"/"id": "autumn"/' "$work/body.json" >"$work/autumn.json"
  curl -sSf -X PUT -H "Authorization: Bearer $key" -H 'Content-Type: application/json' --data "@$work/autumn.json" \
    "$url/v1/jackpots/autumn" >/dev/null
}

scripts/install.sh api
if [[ -z ${BINARY:-} ]]; then
  cargo build --release --locked
  BINARY=target/release/jackpot
fi
python="$TOOLS_DIR/api/bin/python"
export PATH="$TOOLS_DIR/api/bin:$TOOLS_DIR/node/node_modules/.bin:$PATH"
trap clean_up EXIT
serve "$work"
curl -sSf "$url/openapi.json" >"$work/openapi.json"

step openapi-spec-validator
openapi-spec-validator "$work/openapi.json"

step spectral
spectral lint --ruleset tests/api/spectral.yaml --fail-severity hint "$work/openapi.json"

step openapi-python-client
openapi-python-client generate --path "$work/openapi.json" --config tests/api/client.yaml --meta none \
  --output-path "$work/jackpot_client" --fail-on-warning
PYTHONPATH="$work" "$python" tests/api/client_test.py "$url" "$key"

step "schemathesis, $EXAMPLES examples for each operation"
seed
checks="$PWD/tests/api"
# One worker: CPython before 3.11.8 and 3.12.2 shares the depth of its syntax trees between threads, and two threads of
# schemathesis end with "AST constructor recursion depth mismatch" (python/cpython#106905).
# In $work, because schemathesis keeps failures in its working directory.
(cd "$work" && SCHEMATHESIS_HOOKS=hooks PYTHONPATH="$checks" schemathesis --config-file "$checks/schemathesis.toml" run openapi.json \
  --url "$url" --header "Authorization: Bearer $key" --max-examples "$EXAMPLES" --workers 1 --no-color)
say "the service agrees with its description"
