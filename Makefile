# Every target installs what it needs; `make up` and `make test` work in a fresh clone.
STACK ?= dev
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
# TypeScript 7 builds in a third of the time; the linter and tests of editors need the interface of version 6.
TSC := node_modules/typescript-7/bin/tsc
SOURCES := $(shell find platform provider cli sdk emulator engine machine testing tools -name '*.ts' 2>/dev/null)

.PHONY: build up preview refresh destroy test test-console check format bench clean
.DEFAULT_GOAL := build

node_modules/.installed: package.json package-lock.json .npmrc $(wildcard examples/*/package.json tools/scripts/*/package.json)
	@echo "Installing what package-lock.json names (npm ci, half a minute)"
	@npm ci --no-audit --no-fund --loglevel=error
	@node -e 'const [a,b]=process.versions.node.split(".").map(Number);process.exit(a>22||a===22&&b>=19?0:1)' || \
	  { echo "Node $$(node --version) is too old and no newer one could be installed: install Node 22.19 or newer, then run make again." >&2; exit 1; }
	@touch $@

dist/.built: node_modules/.installed tsconfig.json tools/scripts/bundle.mjs $(SOURCES)
	@echo "Building dist (ten seconds)"
	@rm -rf dist
	@$(TSC) -p .
	@node tools/scripts/bundle.mjs
	@touch $@

build: dist/.built

up preview refresh destroy: dist/.built
	@STACK=$(STACK) ENGINE=$(ENGINE) tools/scripts/stack $@

# What node has compiled, for the hundreds of short processes that tests start; killed ones leave nothing there.
test test-long: export NODE_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/compiled

CLIENT = import("$(CURDIR)/dist/bundle/client.js").then(({ createClient }) => \
	createClient({ endpoint: "http://localhost", email: "a@example.com", password: "-" }))

.PHONY: compiled
compiled: dist/.built
	@NODE_COMPILE_CACHE=$(CURDIR)/node_modules/.cache/compiled node --no-warnings -e \
	  'import("$(CURDIR)/dist/bundle/" + fs.readdirSync("dist/bundle").find((name) => name.startsWith("provider-"))); $(CLIENT)'
	@NODE_COMPILE_CACHE=$(CURDIR)/node_modules/.cache/compiled node --no-warnings --allow-natives-syntax --min-semi-space-size=16 -e \
	  'require("@pulumi/pulumi"); import("$(CURDIR)/dist/bundle/dynamic.js"); $(CLIENT)'

# More workers than cores: they wait for processes and timers. ROOM=emulator runs the tests of one room alone.
test: compiled
	@echo "Running the tests, the longest suites first; each says a line when it is done"
	@node --no-warnings node_modules/jest/bin/jest.js \
	  --maxWorkers=$(shell node -p 'Math.ceil(os.availableParallelism() * 3.5)') $(ROOM:%=dist/%/) $(ARGS)

# Every case through both kinds of provider, every kill and deviation, other draws each time, and the oldest and
# newest of what the package takes: hours.
.PHONY: test-long
test-long: export TEST_LONG := 1
test-long: export DEVIATIONS := all
test-long: export PROPERTY_SEED ?= $(shell date +%s)
test-long: compiled
	@echo "PROPERTY_SEED=$(PROPERTY_SEED)"
	@node --no-warnings node_modules/jest/bin/jest.js --testMatch '**/*.test.js' '**/*.long.js' --testTimeout=36000000 $(ARGS)
	@$(MAKE) --no-print-directory test-clones test-range test-console

# Stories with each command in a fresh clone with an empty home, as pipelines have it: their outcomes are the same there.
CLONED = rearranged released lives/lives lives/handOver lives/rearrangedRows lives/existingRows \
  lives/seedRows lives/team
.PHONY: test-clones
test-clones: compiled
	@TEST_CLONES=1 node --no-warnings node_modules/jest/bin/jest.js --testTimeout=36000000 $(CLONED:%=dist/testing/%)

# The emulator's console in a headless browser.
test-console: dist/.built
	@CHROMIUM="$$(tools/scripts/browser)" && export CHROMIUM && \
	  node --no-warnings node_modules/jest/bin/jest.js --testMatch '**/*.browser.js' --testPathIgnorePatterns /bundle/ --runInBand $(ARGS)

check: is-formatted lints nothing-is-unused docs-are-current api-docs-are-whole schema-breaks-nothing lock-is-whole rooms

.PHONY: is-formatted lints nothing-is-unused
is-formatted: node_modules/.installed
	@oxfmt --check > /dev/null || { oxfmt --list-different; echo "not formatted: make format" >&2; exit 1; }

lints: dist/.built
	@oxlint

nothing-is-unused: dist/.built
	@knip

.PHONY: rooms
rooms: node_modules/.installed
	@node --no-warnings tools/scripts/house.mjs --check

.PHONY: lock-is-whole
lock-is-whole: node_modules/.installed
	@node tools/scripts/lock-is-whole.mjs

.PHONY: docs docs-are-current test-pulumi sdks
# Without a check of types: the client has no method of a new endpoint before this writes it.
docs: node_modules/.installed
	@rm -rf dist
	@$(TSC) -p . --noCheck
	@node --no-warnings dist/tools/writeDocuments.js

docs-are-current: dist/.built
	@node --no-warnings dist/tools/writeDocuments.js --check

# Pages about each export of the client, in dist/api; the check looks for links and types that lead nowhere.
.PHONY: api-docs api-docs-are-whole
api-docs: dist/.built
	@typedoc --logLevel Warn
	@echo dist/api/index.html

api-docs-are-whole: node_modules/.installed
	@typedoc --emit none --logLevel Warn

# The SDKs of each language that the Pulumi CLI has a host for, in sdks/.
sdks:
	@tools/scripts/sdks $(ARGS)

# The schema against the last released one: a break needs another version.
.PHONY: schema-breaks-nothing
schema-breaks-nothing: dist/.built
	@node --no-warnings dist/tools/checkSchema.js

# All examples and guides under a Pulumi CLI, which must be installed: it generates the SDKs and compiles the programs.
test-pulumi: dist/.built
	@node --no-warnings dist/testing/programs/runExamples.js $(ARGS)

# The packed package with the oldest and the newest @pulumi/pulumi and Node that it takes; a registry has them.
.PHONY: test-range
test-range: dist/.built
	@node --no-warnings node_modules/jest/bin/jest.js --runInBand --testMatch '**/*.range.js' $(ARGS)

# The emulator's container, where docker is.
.PHONY: test-docker
test-docker: dist/.built
	@docker info >/dev/null 2>&1 || { echo "docker is missing, or its service is not running: install or start it to try the emulator's container." >&2; exit 1; }
	@node --no-warnings node_modules/jest/bin/jest.js --runInBand --testMatch '**/*.docker.js'

# What this version leaves behind, for the tests of later ones: run it once for each version that is released.
.PHONY: record-states
record-states:
	@RECORD_STATES=1 $(MAKE) --no-print-directory test ARGS=testing/released

format: node_modules/.installed
	@oxfmt

# Jobs of the design beside floors and peers; OpenTofu and its provider for REST are built once, by Go. ARGS chooses some.
bench: dist/.built
	@node --no-warnings dist/tools/bench/run.js $(ARGS)

clean:
	@rm -rf dist node_modules coverage
