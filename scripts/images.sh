#!/usr/bin/env bash
# Makes the images that the tests run on: pulled, or where no registry answers, made from the machine's packages
# (the binary and the libraries it loads). Prints nothing when they are there. Fails only without a Redis image.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

PULL_DEADLINE_S=180

there() { docker image inspect "$1" >/dev/null 2>&1; }

# from_binary IMAGE PROGRAM: an image that holds this program alone.
from_binary() {
  local image=$1 program=$2 path root
  path=$(readlink -f "$(command -v "$program")")
  root=$(mktemp -d)
  mkdir -p "$root/usr/bin" "$root/data" "$root/etc" "$root/tmp"
  chmod 1777 "$root/tmp"
  echo "root:x:0:0:root:/data:/sbin/nologin" >"$root/etc/passwd"
  cp "$path" "$root/usr/bin/$program"
  ldd "$path" | grep -oE '/[^ ]+' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
  tar -C "$root" -c . | docker import --change 'ENV PATH=/usr/bin' --change 'WORKDIR /data' \
    --change 'EXPOSE 6379' --change "CMD [\"$program\"]" - "$image" >/dev/null
  rm -rf "$root"
  say "made the image $image from $("$program" --version | cut -c 1-40)"
}

# provide IMAGE PROGRAM
provide() {
  there "$1" && return 0
  if timeout "$PULL_DEADLINE_S" docker pull --quiet "$1" >/dev/null 2>&1; then
    return 0
  fi
  if [[ $2 == valkey-server ]]; then scripts/valkey.sh || return 1; fi
  have "$2" || return 1
  from_binary "$1" "$2"
}

provide "$REDIS_IMAGE" redis-server || die "no $REDIS_IMAGE: neither a registry nor a redis-server to make it from"
provide "$VALKEY_IMAGE" valkey-server || say "no $VALKEY_IMAGE: neither a registry nor a valkey-server to make it from"
