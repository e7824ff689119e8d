#!/usr/bin/env bash
# images.sh [tests …|jackpot|stack|debian]: provides images.
# - tests [redis|valkey|postgres]…: of these (default: all), for the tests. It fails only without a Redis image.
# - jackpot: jackpot:VERSION and jackpot:VERSION-slim, by deploy/Dockerfile. BINARY: a program that was built before;
#   without it the Dockerfile compiles one, or if no registry answers this machine does.
# - stack: the other programs of deploy/compose.yml, but Grafana, of which Debian has no package.
# - debian: a system of packages, the base of the others and of the test of the Debian package.
# Images are pulled, or made from packages if no registry answers: the program and the libraries it loads. Prints
# nothing if they exist.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

PULL_DEADLINE_S=180
# Of the images that are made here. Another number makes them anew.
RECIPE=3
VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

# there IMAGE: whether it was pulled, or made by this recipe.
there() {
  local seen
  local format='{{len .RepoDigests}} {{index .Config.Labels "jackpot.recipe"}}'
  seen=$(docker image inspect --format "$format" "$1" 2>/dev/null) || return 1
  [[ ${seen% *} != 0 || ${seen#* } == "$RECIPE" ]]
}

# pulled IMAGE: pulls it; false if no registry answers. After one that does not, no other is asked.
pulled() {
  [[ ! -e $no_registry ]] || return 1
  timeout "$PULL_DEADLINE_S" docker pull --quiet "$1" >/dev/null 2>&1 && return 0
  touch "$no_registry"
  return 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
no_registry="$work/no-registry"

# empty_root: makes a directory with the files that every image needs; its name is in $root.
empty_root() {
  root=$(mktemp -d --tmpdir="$work")
  # mktemp makes it for its owner alone, but it becomes / of the image.
  chmod 755 "$root"
  mkdir -p "$root/usr/bin" "$root/bin" "$root/data" "$root/etc" "$root/tmp"
  chmod 1777 "$root/tmp" "$root/data"
  # 10001: the programs of deploy/compose.yml, when root starts it.
  printf '%s\n' "root:x:0:0:root:/data:/sbin/nologin" "stack:x:10001:10001::/data:/sbin/nologin" >"$root/etc/passwd"
}

# add ROOT PROGRAM…: copies programs, which PATH has, and the libraries they load. They are in /usr/bin under their
# names.
add() {
  local root=$1 program path
  shift
  for program in "$@"; do
    path=$(readlink -f "$(command -v "$program")") || return 1
    sh deploy/image-root.sh "$root" "$path" "$path:/usr/bin/${program##*/}"
  done
}

# import_root IMAGE CHANGE…: makes the image of $root.
import_root() {
  local image=$1 change options=()
  shift
  for change in "LABEL jackpot.recipe=$RECIPE" "$@"; do options+=(--change "$change"); done
  tar -C "$root" --owner=0 --group=0 -c . | docker import "${options[@]}" - "$image" >/dev/null
  rm -rf "$root"
}

# from_programs IMAGE START PROGRAM…: makes an image with these programs. START: ENTRYPOINT or CMD of the first one.
from_programs() {
  local image=$1 start=$2
  shift 2
  empty_root
  add "$root" "$@" || return 1
  [[ ! -x $root/usr/bin/sh ]] || cp "$root/usr/bin/sh" "$root/bin/sh"
  import_root "$image" 'ENV PATH=/usr/bin' 'WORKDIR /data' "$start [\"$1\"]"
  say "made the image $image from $("$1" --version 2>&1 | head -n 1 | cut -c 1-40)"
}

# postgres_from_package IMAGE: makes an image with the interface of the published one: POSTGRES_PASSWORD or its …_FILE,
# POSTGRES_USER, POSTGRES_DB, PGDATA, arguments of the server.
postgres_from_package() {
  local programs share library
  programs=$(postgres_programs) || return 1
  share=$("$programs/pg_config" --sharedir)
  library=$("$programs/pg_config" --pkglibdir)
  empty_root
  sh deploy/image-root.sh "$root" "$programs"/{postgres,initdb,pg_isready}
  # initdb runs its commands with /bin/sh.
  add "$root" sh mkdir cat && cp "$root/usr/bin/sh" "$root/bin/sh"
  # initdb loads the procedural language and the text search, and a client of a database that is not in UTF-8 a conversion.
  # The other libraries are large and unused.
  sh deploy/image-root.sh "$root" "$library"/{plpgsql,dict_snowball}.so "$library"/utf8_and_*.so
  mkdir -p "$root$(dirname "$share")"
  cp -rL "$share" "$root$share"
  # Clients set the time zone UTC, and this package of the server has no time zones.
  mkdir -p "$root/usr/share/zoneinfo"
  cp -L /usr/share/zoneinfo/UTC "$root/usr/share/zoneinfo/UTC"
  # PostgreSQL refuses root.
  echo "postgres:x:999:999::/var/lib/postgresql:/bin/sh" >>"$root/etc/passwd"
  echo "postgres:x:999:" >"$root/etc/group"
  mkdir -p "$root/var/lib/postgresql" "$root/var/run/postgresql"
  chmod 1777 "$root/var/lib/postgresql" "$root/var/run/postgresql"
  cat >"$root/entrypoint" <<'SCRIPT'
#!/bin/sh
set -e
user=${POSTGRES_USER:-postgres}
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  if [ -n "$POSTGRES_PASSWORD_FILE" ]; then POSTGRES_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE"); fi
  echo "$POSTGRES_PASSWORD" >/tmp/password
  initdb --username="$user" --auth=scram-sha-256 --pwfile=/tmp/password --encoding=UTF8 --locale=C --pgdata="$PGDATA"
  if [ "${POSTGRES_DB:-postgres}" != postgres ]; then
    echo "CREATE DATABASE $POSTGRES_DB" | postgres --single -D "$PGDATA" postgres >/dev/null
  fi
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
fi
if [ "$1" = postgres ]; then shift; fi
exec postgres -c listen_addresses='*' -k /var/run/postgresql "$@"
SCRIPT
  chmod 755 "$root/entrypoint"
  import_root "$1" "ENV PATH=$programs:/usr/bin:/bin" 'ENV PGDATA=/var/lib/postgresql/data/main' 'EXPOSE 5432' \
    'USER 999:999' 'ENTRYPOINT ["/entrypoint"]' 'CMD ["postgres"]'
  say "made the image $1 from $("$programs/postgres" --version)"
}

# provide IMAGE MAKER…: pulls it, or makes it with this command.
provide() {
  there "$1" && return 0
  pulled "$1" && return 0
  shift
  "$@"
}

valkey_from_package() {
  scripts/valkey.sh && from_programs "$VALKEY_IMAGE" CMD valkey-server
}

# The system of this machine's release, so that programs that were built here run there.
debian_from_packages() {
  local suite
  have mmdebstrap || die "mmdebstrap is missing, and no registry answers: apt-get install mmdebstrap"
  # shellcheck source=/dev/null
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  say "making the image $DEBIAN_IMAGE of packages (once, a minute or two)"
  mmdebstrap --quiet --variant=minbase --include=adduser,ca-certificates,redis-server,systemd,tini "$suite" - |
    docker import --change "LABEL jackpot.recipe=$RECIPE" --change 'CMD ["/bin/bash"]' - "$DEBIAN_IMAGE" >/dev/null
}

# build ARGUMENT…: docker build with BuildKit. Docker's client had it built in until it became a plugin.
build() {
  local client
  if docker buildx version >/dev/null 2>&1; then
    docker buildx build --load --quiet "$@" >/dev/null
    return
  fi
  for client in docker /usr/bin/docker; do
    [[ $(docker_client_major "$client") -lt 23 ]] || continue
    DOCKER_BUILDKIT=1 "$client" build --quiet "$@" >/dev/null
    return
  done
  die "Docker's buildx is missing: install the package docker-buildx or docker-buildx-plugin"
}
# The major version of a client; 99 if there is none.
docker_client_major() {
  local version
  version=$("$1" version --format '{{.Client.Version}}' 2>/dev/null) || version=99
  echo "${version%%.*}"
}

jackpot_images() {
  local target tag options=(--file deploy/Dockerfile --build-arg "VERSION=$VERSION")
  options+=(--build-arg "REVISION=$(git rev-parse HEAD 2>/dev/null || echo unknown)")
  options+=(--build-arg "CREATED=$(date --utc +%Y-%m-%dT%H:%M:%SZ)")
  if [[ -n ${BINARY:-} ]] || ! pulled "$RUST_IMAGE"; then
    scripts/dist.sh
    options+=(--build-arg PROGRAM=prebuilt)
  fi
  if [[ -e $no_registry ]] || ! pulled "$DEBIAN_SLIM_IMAGE"; then
    provide "$DEBIAN_IMAGE" debian_from_packages
    options+=(--build-arg "DEBIAN_IMAGE=$DEBIAN_IMAGE")
  fi
  for target in full slim; do
    tag="jackpot:$VERSION"
    [[ $target == full ]] || tag+="-$target"
    build "${options[@]}" --target "$target" --tag "$tag" .
    say "made the image $tag, $(($(docker image inspect --format '{{.Size}}' "$tag") / 1000000)) MB"
  done
}

redis_image() { provide "$REDIS_IMAGE" from_programs "$REDIS_IMAGE" CMD redis-server redis-cli sh sleep; }
postgres_image() { provide "$POSTGRES_IMAGE" postgres_from_package "$POSTGRES_IMAGE"; }

case "${1:-tests}" in
  tests)
    shift || true
    (($#)) || set -- redis valkey postgres
    for name in "$@"; do
      case $name in
        redis) redis_image || die "no $REDIS_IMAGE: neither a registry nor a redis-server to make it from" ;;
        valkey)
          provide "$VALKEY_IMAGE" valkey_from_package ||
            say "no $VALKEY_IMAGE: neither a registry nor a valkey-server to make it from"
          ;;
        postgres) postgres_image || say "no $POSTGRES_IMAGE: neither a registry nor a postgresql to make it from" ;;
        *) die "usage: scripts/images.sh tests [redis|valkey|postgres]…" ;;
      esac
    done
    ;;
  jackpot) jackpot_images ;;
  stack)
    redis_image || die "no $REDIS_IMAGE: neither a registry nor a redis-server to make it from"
    postgres_image || die "no $POSTGRES_IMAGE: neither a registry nor a postgresql to make it from"
    provide "$HAPROXY_IMAGE" from_programs "$HAPROXY_IMAGE" CMD haproxy bash ||
      die "no $HAPROXY_IMAGE: neither a registry nor a haproxy to make it from"
    provide "$PROMETHEUS_IMAGE" from_programs "$PROMETHEUS_IMAGE" ENTRYPOINT prometheus promtool ||
      die "no $PROMETHEUS_IMAGE: neither a registry nor a prometheus to make it from"
    ;;
  debian) provide "$DEBIAN_IMAGE" debian_from_packages ;;
  *) die "usage: scripts/images.sh [tests|jackpot|stack|debian]" ;;
esac
