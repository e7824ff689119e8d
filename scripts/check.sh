#!/usr/bin/env bash
# check.sh: the rest of what may stop a merge, after `make test`: the tests on PostgreSQL, in a browser, and those that load
# the machine (tests/gates/check); then the release build against the black-box checks (on SQLite, on PostgreSQL, over TLS),
# the API description, the clients and the files of deploy/. `make nightly` has what is left.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source scripts/lanes.sh
source scripts/servers.sh

clean_up() {
  end_lanes
  stop_servers
}

scripts/install.sh test
trap clean_up EXIT
start_servers redis postgres
# The tests wait a third of their time, so the release build is made beside them, at the lowest priority.
lane prepare nice -n 19 scripts/prepare.sh
run_tests check
join_lanes prepare

# These wait most of their time, and each starts its own service.
lanes=(acceptance-sqlite acceptance-postgres acceptance-tls api clients deploy)
lane acceptance-sqlite scripts/acceptance.sh sqlite
lane acceptance-postgres scripts/acceptance.sh postgres
lane acceptance-tls scripts/acceptance.sh tls
lane api scripts/api.sh
lane clients scripts/clients.sh test
# What needs no engine. `make nightly` has the images, the stack and the package.
lane deploy env BINARY=target/release/jackpot scripts/deploy.sh test rules unit manifests
join_lanes "${lanes[@]}"
say "make check passed; make nightly has the rest"
