#!/usr/bin/env bash
# prepare.sh: installs and builds what the checks of the release build need. Each of them does so for itself, too; here
# it is done before, at the lowest priority, while tests run that leave a part of two cores idle.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

for command in api clients deploy; do scripts/install.sh "$command"; done
cargo build --release --locked
