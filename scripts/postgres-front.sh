#!/usr/bin/env bash
# postgres-front.sh ARGUMENTS: replaces the service's binary for the black-box checks, so that its ledger is in PostgreSQL: a
# database for each data directory. POSTGRES_FRONT_BINARY: the service. POSTGRES_FRONT_URL: the server, without a database.
set -euo pipefail

database=$(basename "$JACKPOT__DATA_DIR" | tr -c 'a-z0-9\n' '_')
# A check may start the service again on its data.
if [[ -z $(psql --quiet --tuples-only --command "SELECT 1 FROM pg_database WHERE datname = '$database'" "$POSTGRES_FRONT_URL/postgres") ]]; then
  psql --quiet --command "CREATE DATABASE $database" "$POSTGRES_FRONT_URL/postgres"
fi
export JACKPOT__LEDGER__URL="$POSTGRES_FRONT_URL/$database"
# In the same process, so that a check that kills this script kills the service.
exec "$POSTGRES_FRONT_BINARY" "$@"
