#!/usr/bin/env bash
# Provides the images of the tests. Pulls them, or makes them from the machine's packages if no registry answers (the binary
# and the libraries it loads). Prints nothing if they exist. Fails only without a Redis image.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

PULL_DEADLINE_S=180

there() { docker image inspect "$1" >/dev/null 2>&1; }

# add ROOT PROGRAM…: copies the programs and the libraries they load into ROOT, under their own paths.
add() {
  local root=$1 program file
  shift
  for program in "$@"; do
    { echo "$program" && ldd "$program" | grep -oE '/[^ ]+'; } | while read -r file; do
      mkdir -p "$root$(dirname "$file")"
      cp -L "$file" "$root$file"
    done
  done
}

# empty_root: makes a directory with the files that every image needs; its name is in $root.
empty_root() {
  root=$(mktemp -d)
  # mktemp makes it for its owner alone, but it becomes / of the image.
  chmod 755 "$root"
  mkdir -p "$root/usr/bin" "$root/bin" "$root/data" "$root/etc" "$root/tmp"
  chmod 1777 "$root/tmp"
  echo "root:x:0:0:root:/data:/sbin/nologin" >"$root/etc/passwd"
}

# from_binary IMAGE PROGRAM: makes an image with this program alone.
from_binary() {
  local image=$1 program=$2 path root
  path=$(readlink -f "$(command -v "$program")")
  empty_root
  add "$root" "$path"
  [[ $path == "/usr/bin/$program" ]] || cp "$path" "$root/usr/bin/$program"
  tar -C "$root" -c . | docker import --change 'ENV PATH=/usr/bin' --change 'WORKDIR /data' \
    --change 'EXPOSE 6379' --change "CMD [\"$program\"]" - "$image" >/dev/null
  rm -rf "$root"
  say "made the image $image from $("$program" --version | cut -c 1-40)"
}

# postgres_from_package IMAGE: makes an image with the interface of the published one: POSTGRES_PASSWORD, PGDATA, arguments
# of the server.
postgres_from_package() {
  local programs share library root
  programs=$(postgres_programs) || return 1
  share=$("$programs/pg_config" --sharedir)
  library=$("$programs/pg_config" --pkglibdir)
  empty_root
  add "$root" "$programs"/{postgres,initdb,pg_isready}
  add "$root" "$(command -v sh)" "$(command -v mkdir)"
  # initdb runs its commands with /bin/sh.
  [[ -x $root/bin/sh ]] || cp -L /bin/sh "$root/bin/sh"
  # initdb loads the procedural language and the text search. The other libraries are large and unused.
  add "$root" "$library"/{plpgsql,dict_snowball}.so
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
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  echo "$POSTGRES_PASSWORD" >/tmp/password
  initdb --username=postgres --auth=scram-sha-256 --pwfile=/tmp/password --encoding=UTF8 --locale=C --pgdata="$PGDATA"
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
fi
if [ "$1" = postgres ]; then shift; fi
exec postgres -c listen_addresses='*' -k /var/run/postgresql "$@"
SCRIPT
  chmod 755 "$root/entrypoint"
  tar -C "$root" --owner=0 --group=0 -c . | docker import --change "ENV PATH=$programs:/usr/bin:/bin" \
    --change 'ENV PGDATA=/var/lib/postgresql/data/main' --change 'EXPOSE 5432' --change 'USER 999:999' \
    --change 'ENTRYPOINT ["/entrypoint"]' --change 'CMD ["postgres"]' - "$1" >/dev/null || return 1
  rm -rf "$root"
  say "made the image $1 from $("$programs/postgres" --version)"
}

# provide IMAGE PROGRAM
provide() {
  there "$1" && return 0
  if timeout "$PULL_DEADLINE_S" docker pull --quiet "$1" >/dev/null 2>&1; then
    return 0
  fi
  if [[ $2 == postgres ]]; then
    postgres_from_package "$1"
    return
  fi
  if [[ $2 == valkey-server ]]; then scripts/valkey.sh || return 1; fi
  have "$2" || return 1
  from_binary "$1" "$2"
}

provide "$REDIS_IMAGE" redis-server || die "no $REDIS_IMAGE: neither a registry nor a redis-server to make it from"
provide "$VALKEY_IMAGE" valkey-server || say "no $VALKEY_IMAGE: neither a registry nor a valkey-server to make it from"
provide "$POSTGRES_IMAGE" postgres || say "no $POSTGRES_IMAGE: neither a registry nor a postgresql to make it from"
