#!/bin/bash
# Runs in a clean Debian whose first process is systemd: installs /in/jackpot.deb, runs its unit, plays an entry,
# removes and purges it, and looks for what is left.
set -euo pipefail

die() {
  echo "error: $*" >&2
  journalctl --no-pager --unit jackpot --lines 20 >&2 || true
  exit 1
}
is() { [[ $2 == "$3" ]] || die "$1 is '$2' in place of '$3'"; }
property() { systemctl show --property "$1" --value jackpot; }
installed() { dpkg-query --show --showformat '${db:Status-Abbrev}' jackpot 2>/dev/null || true; }
apt() {
  DEBIAN_FRONTEND=noninteractive apt-get --quiet=2 --no-install-recommends --yes "$@" >/tmp/apt 2>&1 ||
    die "$(cat /tmp/apt)"
}
# Everything of the package's name, but for this test's own files.
left() {
  find / -xdev \( -path /in -o -path /proc -o -path /sys -o -path /tmp \) -prune -o -iname '*jackpot*' -print -prune
}

# enter: sends an entry and prints the status of the answer.
enter() {
  local body='{"entry_id":"one","player_id":"p1","stake":100}' line
  exec 3<>/dev/tcp/127.0.0.1/8080
  printf '%s\r\n' 'POST /v1/jackpots/spring/entries HTTP/1.1' 'Host: localhost' 'Content-Type: application/json' \
    "Authorization: Bearer $(</var/lib/jackpot/operator.key)" "Content-Length: ${#body}" '' >&3
  printf '%s' "$body" >&3
  read -r _ line _ <&3
  exec 3>&-
  echo "$line"
}

for _ in {1..100}; do
  [[ $(systemctl is-system-running 2>/dev/null) =~ running|degraded ]] && break
  sleep 0.2
done

# Installed and purged, nothing was started and nothing is left.
apt install /in/jackpot.deb
is "the service is enabled" "$(systemctl is-enabled jackpot || true)" disabled
is "the service is active" "$(systemctl is-active jackpot || true)" inactive
is "the data directory" "$(stat --format '%U:%G %a' /var/lib/jackpot)" "jackpot:jackpot 700"
apt purge jackpot
[[ -z $(left) ]] || die "left after a purge: $(left)"
if id jackpot >/dev/null 2>&1; then die "the user is left after a purge"; fi

# In use.
apt install /in/jackpot.deb
jackpot --version
mkdir /etc/jackpot/jackpots
cp /usr/share/doc/jackpot/examples/spring.toml /etc/jackpot/jackpots/
systemctl start jackpot || die "the unit does not start"
is "the status" "$(property StatusText)" "serves http://127.0.0.1:8080"
jackpot health --ready --config /etc/jackpot/jackpot.toml
pid=$(property MainPID)
is "the user of the service" "$(stat --format %U "/proc/$pid")" jackpot
is "its capabilities" "$(sed -n 's/^CapEff:\t//p' "/proc/$pid/status")" 0000000000000000
is "its system calls are filtered" "$(sed -n 's/^Seccomp:\t//p' "/proc/$pid/status")" 2
is "the entry" "$(enter)" 201
is "the repeated entry" "$(enter)" 200

# A frozen service is restarted by the watchdog. A drop-in makes the wait shorter.
mkdir -p /run/systemd/system/jackpot.service.d
printf '[Service]\nWatchdogSec=2\nTimeoutAbortSec=2\n' >/run/systemd/system/jackpot.service.d/watchdog.conf
systemctl daemon-reload
systemctl restart jackpot
before=$(property MainPID)
kill -STOP "$before"
for _ in {1..150}; do
  [[ $(property NRestarts) -ge 1 && $(property ActiveState) == active ]] && break
  sleep 0.2
done
is "restarts by the watchdog" "$(property NRestarts)" 1
is "the entry after a restart" "$(enter)" 200
systemctl stop jackpot
is "the result of a stop" "$(property Result) $(property ExecMainStatus)" "success 0"
if grep -sqa jackpot/redis/redis.sock /proc/[0-9]*/cmdline; then die "the private Redis is left after a stop"; fi

# Removed while it runs: settings and ledger stay, and a new installation goes on with them.
systemctl start jackpot
apt remove jackpot
is "the state after a removal" "$(installed)" "rc "
is "the service after a removal" "$(systemctl is-active jackpot || true)" inactive
[[ -e /var/lib/jackpot/ledger.sqlite ]] || die "a removal takes the ledger"
[[ -e /etc/jackpot/jackpot.toml ]] || die "a removal takes the settings"
apt install /in/jackpot.deb
systemctl start jackpot
is "the entry after another installation" "$(enter)" 200

rm -r /etc/jackpot/jackpots /run/systemd/system/jackpot.service.d
apt purge jackpot
grep -q 'kept /var/lib/jackpot' /tmp/apt || die "a purge with a ledger does not say that it keeps it: $(cat /tmp/apt)"
is "what a purge leaves" "$(left)" /var/lib/jackpot
rm -r /var/lib/jackpot
deluser --quiet --system jackpot
[[ -z $(left) ]] || die "left at the end: $(left)"
echo "the package was installed, run by its unit, removed and purged"
