//! Examples at the end of each command's `--help`. `tests/it/cli/help.rs` parses every one of them.

pub(super) const SERVE: &str = "\
Examples:
  jackpot serve
  jackpot serve --config /etc/jackpot/jackpot.toml
  JACKPOT__HTTP__LISTEN=0.0.0.0:8080 jackpot serve";

pub(super) const HEALTH: &str = "\
Examples:
  jackpot health
  jackpot health --ready --config /etc/jackpot/jackpot.toml";

pub(super) const KEY_NEW: &str = "\
Examples:
  jackpot key new --role play --name game-1
  jackpot key new --role read --name auditor --expires 90d
  jackpot key new --role operate --name spring-desk --only jackpot:spring --only coupon:coffee";

pub(super) const KEY_LIST: &str = "\
Examples:
  jackpot key list";

pub(super) const KEY_REVOKE: &str = "\
Examples:
  jackpot key revoke game-1";

pub(super) const KEY_ROTATE_SIGNING: &str = "\
Examples:
  jackpot key rotate-signing";

pub(super) const MIGRATE: &str = "\
Examples:
  jackpot migrate
  JACKPOT__LEDGER__URL=postgres://owner@db/jackpot jackpot migrate";

pub(super) const SIMULATE: &str = "\
Examples:
  jackpot simulate --entries 20000
  jackpot simulate --players 1000 --winners 500 --kills 20
  jackpot simulate --coupons
  jackpot simulate --room
  jackpot simulate --coupons --compare --report compared.html
  jackpot simulate --room --compare
  jackpot simulate --scenario config/scenarios/market-day.toml --report day.html";

pub(super) const EXPORT: &str = "\
Examples:
  jackpot export spring >spring.ndjson
  jackpot export spring --output spring.ndjson";

pub(super) const VERIFY: &str = "\
Examples:
  jackpot verify spring.ndjson
  jackpot verify spring.ndjson --key keys.json --head head-of-january.json
  jackpot verify --ledger --jackpot spring";

pub(super) const RNG_TEST: &str = "\
Examples:
  jackpot rng-test
  jackpot rng-test --entries 2000000
  jackpot rng-test --seed 4ac47d7baa14f4b8b68b3c4c030c3ad5a41005179359fe6d13f0b924ef1586d3";

pub(super) const RECONCILE: &str = "\
Examples:
  jackpot reconcile
  jackpot reconcile --jackpot spring
  jackpot reconcile --url http://127.0.0.1:8080";

pub(super) const BACKUP: &str = "\
Examples:
  jackpot backup /var/backups/jackpot/2026-11-23";

pub(super) const RESTORE: &str = "\
Examples:
  jackpot restore
  jackpot restore --jackpot spring
  jackpot restore --from /var/backups/jackpot/2026-11-23
  jackpot restore --adopt";

pub(super) const LEDGER_SHOW: &str = "\
Examples:
  jackpot ledger show spring
  jackpot ledger show --coupon coffee";

pub(super) const LEDGER_SKIP: &str = "\
Examples:
  jackpot ledger skip spring --event 1042 --reason 'damaged by hand, see ticket 7'";

pub(super) const DOCTOR: &str = "\
Examples:
  jackpot doctor
  jackpot doctor --config /etc/jackpot/jackpot.toml
  jackpot doctor --json | jq 'select(.verdict != \"ok\")'";

pub(super) const COMPLETIONS: &str = "\
Examples:
  jackpot completions bash >/etc/bash_completion.d/jackpot
  jackpot completions zsh >~/.zfunc/_jackpot
  jackpot completions fish >~/.config/fish/completions/jackpot.fish";

pub(super) const EXIT_CODES: &str = "\
Exit codes: 0 after success, 1 after a failure, 2 when the command line is wrong. `verify`, `rng-test`, `reconcile` and
`ledger show` exit with 1 for what they found, and with 2 when they could not look; `verify` exits with 3 when nothing is
wrong but seeds are missing.";
