# SPDX-License-Identifier: Apache-2.0
SHELL := /bin/bash
WORKER := .build/release/worker

# Swift's caches and temporary files go into .build too, not into the home directory and /tmp.
export TMPDIR := $(CURDIR)/.build/tmp
export XDG_CACHE_HOME := $(CURDIR)/.build/cache
export SWIFTPM_MODULECACHE_OVERRIDE := $(CURDIR)/.build/cache/modules
# SwiftPM also makes folders in the home directory, in spite of the variables above.
SWIFT := env HOME="$(CURDIR)/.build/home" CFFIXED_USER_HOME="$(CURDIR)/.build/home" swift

.PHONY: help setup tools build generate demo test compat lint bench ha soak planted-bugs fuzz sanitize
.PHONY: deb package-check package-test clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

setup: ## Install what is missing: Debian packages (as root) and .postrider/venv
	@mkdir -p "$(TMPDIR)" "$(XDG_CACHE_HOME)" .build/home
	@scripts/setup.sh

# Like setup, but without the browser, which only tests need.
tools:
	@mkdir -p "$(TMPDIR)" "$(XDG_CACHE_HOME)" .build/home
	@scripts/setup.sh --without-browser

build: tools ## Build the release worker, .build/release/worker
	$(SWIFT) build -c release --static-swift-stdlib --product worker

generate: tools ## Rebuild the generated files: lists of migrations, schema fixture, references
	@.postrider/venv/bin/python scripts/generate_lists.py
	$(SWIFT) build --product worker
	@scripts/generate_schema.sh "$$($(SWIFT) build --show-bin-path)/worker"
	@.postrider/venv/bin/python scripts/generate_reference.py "$$($(SWIFT) build --show-bin-path)/worker"

demo: build ## Run real calls against httpbin on a private PostgreSQL, show the views
	@scripts/demo.sh $(WORKER)

# All tests run the optimized worker, as it is shipped. With ONLY they run the debug worker, which is built sooner.
test: setup $(if $(ONLY),,build) ## Run all tests on private servers, or only those with Topic in their name: ONLY=Topic
	$(SWIFT) build --build-tests
	@$(if $(ONLY),,POSTRIDER_TEST_WORKER="$(CURDIR)/$(WORKER)") ONLY='$(ONLY)' \
		scripts/test.sh "$$($(SWIFT) build --show-bin-path)/postriderPackageTests.xctest"

compat: setup ## Run the tests that depend on PostgreSQL's behaviour with PostgreSQL 18 (from PyPI)
	$(SWIFT) build --build-tests
	@scripts/compat.sh "$$($(SWIFT) build --show-bin-path)/postriderPackageTests.xctest"

lint: setup ## Check format, imports, sizes, licence lines, checksums, YAML
	@scripts/lint.sh

bench: build ## Measure this build against the floor programs and peers
	@POSTRIDER_WORKER=$(WORKER) bench/run.sh

# The packages come from Debian, so this needs root the first time.
ha: build ## Switch over and kill a PostgreSQL under Patroni, under load, and check the promises: ROUNDS=20
	@scripts/setup.sh --for-ha
	@.postrider/venv/bin/python -B bench/ha/main.py $(WORKER) --rounds $(or $(ROUNDS),2)

# Each round adds a line to .build/soak-report, from which the table of docs/guarantees.md is made.
soak: setup ## Run all rounds of the long tests, renew the table of docs/guarantees.md, and measure steady load for two hours
	rm -rf .build/soak-report
	POSTRIDER_REPORTS="$(CURDIR)/.build/soak-report" POSTRIDER_SOAK=1 \
		$(SWIFT) test --disable-xctest --skip LaneLimitTests --skip PagePaceTests --skip IsolationStormTests
	@# These tests check times to the second and the millisecond, so no other test may run at the same time.
	POSTRIDER_REPORTS="$(CURDIR)/.build/soak-report" POSTRIDER_SOAK=1 \
		$(SWIFT) test --disable-xctest --filter IsolationStormTests
	POSTRIDER_REPORTS="$(CURDIR)/.build/soak-report" POSTRIDER_SOAK=1 \
		$(SWIFT) test --disable-xctest --filter LaneLimitTests
	POSTRIDER_SOAK=1 $(SWIFT) test --disable-xctest --filter PagePaceTests
	@.postrider/venv/bin/python scripts/guarantees_table.py
	@# Two hours: 800 and 3,000 calls a second, while a transaction stays open.
	$(MAKE) build
	@POSTRIDER_WORKER=$(WORKER) bench/run.sh steady --contenders postrider --rounds 1 --seconds 3600 --most-p99 10

planted-bugs: setup ## Plant twelve bugs in copies of the tree; a test must find each within two minutes
	$(SWIFT) build --build-tests
	@.postrider/venv/bin/python scripts/planted_bugs.py

# libFuzzer and the sanitizers come with Swift. ONLY names targets, such as ONLY="json url".
fuzz: tools ## Fuzz each parser of outside bytes for ten minutes, or for FUZZ_SECONDS
	POSTRIDER_FUZZ=1 $(SWIFT) build --scratch-path .build/fuzz --product fuzz --sanitize fuzzer --sanitize address -Xswiftc -use-ld=lld
	$(SWIFT) build --product worker
	@scripts/fuzz.sh .build/fuzz/debug/fuzz "$$($(SWIFT) build --show-bin-path)/worker" $(ONLY)

sanitize: setup ## Run the unit tests with the sanitizers for addresses, leaks, undefined behaviour and threads
	@for kind in address thread; do SWIFT='$(SWIFT)' scripts/sanitize.sh $$kind || exit 1; done

# debhelper and lintian come from Debian, so this needs root the first time.
deb: build ## Build the Debian package in .build/deb, and check it with lintian
	@scripts/setup.sh --for-packages
	@scripts/build_deb.sh $(WORKER)

package-check: deb ## Check the package without installing it: its files, unit, manual and completions
	@scripts/check_package.sh

package-test: package-check ## Install the package and the image's tree in clean roots, as root, and run jobs there
	@scripts/test_packages.sh $(WORKER)

clean: ## Remove what was built and set up: .build and .postrider
	rm -rf .build .postrider
