#!/usr/bin/env bash
# Formats Rust and Lua in place.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

scripts/install.sh lint
cargo fmt --all
if [[ -d lua ]]; then stylua lua benches; fi
