#!/usr/bin/env bash
# make-secrets.sh DIRECTORY: writes the files of the Secret `jackpot` into DIRECTORY, which it makes: new random
# secrets and an API key for operators, beside the given addresses. REDIS_URLS and LEDGER_URL: as in the settings
# redis.urls and ledger.url. BINARY: the program (default: jackpot on PATH). What exists stays.
set -euo pipefail

directory=${1:?usage: REDIS_URLS=… LEDGER_URL=… deploy/kubernetes/make-secrets.sh DIRECTORY}
: "${REDIS_URLS:?rediss://user:password@redis-1:6379,…}"
: "${LEDGER_URL:?postgres://user:password@host/database?sslmode=…}"
program=$(command -v "${BINARY:-jackpot}") || {
  printf 'no program %s: put jackpot on PATH, or name it in BINARY\n' "${BINARY:-jackpot}" >&2
  exit 1
}
program=$(realpath "$program")
umask 077
mkdir -p "$directory"
cd "$directory"

# once NAME: writes standard input to the file, unless it exists.
once() {
  local text
  text=$(cat)
  [[ -e $1 ]] || printf '%s\n' "$text" >"$1"
}
openssl rand -hex 32 | once master_secret
openssl rand -hex 32 | once signing_key
tr , '\n' <<<"$REDIS_URLS" | once redis_urls
once ledger_url <<<"$LEDGER_URL"
if [[ ! -e keys.toml ]]; then
  # With the first key comes one for operators, in operator.key. The Secret has hashes alone.
  JACKPOT__DATA_DIR=$PWD JACKPOT__AUTH__KEYS_FILE=$PWD/keys.toml \
    "$program" key new --create --role play --name game >game.key || {
      rm -f game.key
      exit 1
    }
  rm -f keys.toml.lock
fi
printf 'made %s; its operator.key and game.key are API keys: keep them elsewhere\n' "$directory" >&2
