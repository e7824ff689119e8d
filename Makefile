# The commands of the README. Each one calls a script in scripts/, which gives the reasons.
.DEFAULT_GOAL := help
.PHONY: help run test check nightly mutants lint fmt acceptance api clients images deb deploy-test bench bench-growth bench-memory bench-soak bench-collision bench-hostile bench-ledger bench-exports

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

run: ## Install what is missing, build and serve on 127.0.0.1:8080 with the sample jackpot (RELEASE=1: optimised)
	@scripts/run.sh

test: ## Format, clippy, the tests on real Redis and SQLite, the black-box checks (ARGS=changed: of what changed; ARGS=NAME: these)
	@scripts/test.sh $(ARGS)

check: ## The rest of what may stop a merge: PostgreSQL, browser, faults, the release build, API description, clients
	@scripts/check.sh

nightly: ## What is too long for that: Valkey, upgrades, full sizes, what deploy/ ships, a short run of each comparison
	@scripts/nightly.sh

mutants: ## Change a line, many times, and show that a test of `make test` notices (ARGS="lua --count 200" or "rust --shard 0/8")
	@scripts/mutants.sh $(ARGS)

lint: ## Install what is missing, check format, Rust, Lua, shell, licences and advisories
	@scripts/lint.sh

fmt: ## Format Rust and Lua
	@scripts/fmt.sh

acceptance: ## The black-box checks alone, against the release build
	@scripts/acceptance.sh

api: ## Check the release build against the API description: validators, schemathesis, a generated client
	@scripts/api.sh

clients: ## Check the clients for Python and TypeScript against the release build, and build their packages
	@scripts/clients.sh test

images: ## Build the images jackpot:VERSION and jackpot:VERSION-slim
	@scripts/images.sh jackpot

deb: ## Build the Debian package in target/debian
	@scripts/deb.sh

deploy-test: ## Run what deploy/ ships: images, the stack with a kill, dashboards, an alert, package, manifests
	@scripts/deploy.sh test $(ARGS)

bench: ## Compare the service with its peers on this machine (ARGS=--quick: shorter); docs/reference/benchmarks.md
	@scripts/bench.sh peers $(ARGS)

bench-growth: ## Measure entries/s and p99 as connections, jackpots, batches, retained entries, instances and nodes grow (ARGS=--quick)
	@scripts/bench.sh growth $(ARGS)

bench-memory: ## Measure the bytes in Redis for each remembered entry (ARGS=--quick)
	@scripts/bench.sh memory $(ARGS)

bench-soak: ## Measure resident sizes and stream length under a constant load, 10 minutes (ARGS=--quick: one)
	@scripts/bench.sh soak $(ARGS)

bench-collision: ## Pools, coupons and rooms by the usual approaches and by the service: what each gives out wrongly, how fast (ARGS=--quick)
	@scripts/bench.sh collision $(ARGS)

bench-hostile: ## Measure a keyed client beside 10,000 hostile connections, some 6 minutes (ARGS=--quick: half a minute)
	@scripts/bench.sh hostile $(ARGS)

bench-ledger: ## Measure rates and CPU time of the ledger after 10 million entries, on SQLite and PostgreSQL (15 GB of disk)
	@scripts/bench-ledger.sh

bench-exports: ## Measure memory and time of reading a million payouts from the running service
	@scripts/bench-ledger.sh exports
