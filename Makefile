# These commands run on a Debian machine that has Rust, and do all the set-up that they need.
#   make demo      starts a source and a replica of Slipstream, applies a load, attaches to a MySQL
#                  and a MariaDB server if there are some, and prints a table of the results
#   make test      installs the peers that the tests compare with, then runs every check and test
#   make package   makes a Debian package and tries it in a fresh Debian in a chroot
#   make peers     only installs the peers
#   make cluster-demo   two shards under Vitess, reparented and resharded under sysbench's load
#   make cluster-compare   sysbench through vtgate, with Slipstream and with MySQL behind it, by turns
#   make nightly   looks for crashes and races for hours
# make nightly tries CUTS power cuts, RUNS simulated replicas, KILLS kills of a source with
# replicas, FAULTS faults of each kind in replication, ATTACHES attachments of each kind while either
# side is killed, RESTORES restores to random moments, SCHEDULES schedules of each model under the
# model checker, HISTORIES transactions at each isolation level, each fuzzer for FUZZ_SECONDS
# seconds, WALK statements of a random walk over schemas for each source, and QUERIES random
# statements whose answers are compared with MySQL's. Under Vitess it kills PRIMARIES primaries and
# changes REPARENTS of them. It also runs the applications and the clients' test suites that are too
# slow for every day.
.PHONY: all demo test cluster-demo cluster-compare nightly peers package

CARGO ?= cargo

all:
	$(CARGO) build --profile dist --locked

demo:
	$(CARGO) build --profile dist --locked -p server
	$(CARGO) run --quiet --profile dist --locked -p server --bin slipstream -- bench demo $(DEMO_ARGS)

test:
	scripts/test.sh

cluster-demo:
	scripts/peers/vitess.sh
	SLIPSTREAM_CLUSTER_DEMO=1 $(CARGO) test --release --locked -p testkit --test vitess -- --nocapture demonstration

cluster-compare:
	scripts/peers/vitess.sh
	SLIPSTREAM_CLUSTER_COMPARE=1 $(CARGO) test --release --locked -p testkit --test vitess -- --nocapture throughput

CUTS ?= 100000
SCHEDULES ?= 20000
RUNS ?= 10000
KILLS ?= 100
FAULTS ?= 200
ATTACHES ?= 100
RESTORES ?= 100
HISTORIES ?= 1000000
FUZZ_SECONDS ?= 3600
WALK ?= 100000
QUERIES ?= 1000000
PRIMARIES ?= 20
REPARENTS ?= 50
nightly:
	SLIPSTREAM_CUTS=$(CUTS) $(CARGO) test --release --locked -p engine -p source --test power_cuts -- --nocapture
	SIMULATED_RUNS=$(RUNS) $(CARGO) test --release --locked -p replica --lib simulation -- --nocapture
	SLIPSTREAM_SOURCE_KILLS=$(KILLS) $(CARGO) test --release --locked -p testkit --test kill_source -- --nocapture
	SLIPSTREAM_FAULTS=$(FAULTS) $(CARGO) test --release --locked -p testkit --test fault_loops -- --nocapture
	SLIPSTREAM_ATTACHES=$(ATTACHES) $(CARGO) test --release --locked -p testkit --test attach under_fire -- --nocapture
	SLIPSTREAM_RESTORES=$(RESTORES) $(CARGO) test --release --locked -p testkit --test backups a_restore_to -- --nocapture
	COLLATION_CODE_POINTS=all $(CARGO) test --release --locked -p testkit --test collations_like_mysql -- --nocapture
	SLIPSTREAM_HISTORIES=$(HISTORIES) $(CARGO) test --release --locked -p testkit --test histories -- --nocapture
	SLIPSTREAM_FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test --release --locked -p testkit --test fuzz -- --nocapture
	SLIPSTREAM_WALK=$(WALK) $(CARGO) test --release --locked -p testkit --test schema_walk -- --nocapture
	SLIPSTREAM_RANDOM_QUERIES=$(QUERIES) $(CARGO) test --release --locked -p testkit --test random_queries -- --nocapture
	SLIPSTREAM_APPLICATIONS=all $(CARGO) test --release --locked -p testkit --test applications -- --nocapture
	-scripts/peers/vitess.sh
	SLIPSTREAM_CLUSTER_DEMO=1 SLIPSTREAM_VITESS_KILLS=$(PRIMARIES) SLIPSTREAM_VITESS_REPARENTS=$(REPARENTS) $(CARGO) test --release --locked -p testkit --test vitess -- --nocapture
	-scripts/vitess-tests.sh slipstream
	SLIPSTREAM_CLIENT_SUITES=all $(CARGO) test --release --locked -p testkit --test client_suites -- --nocapture
	SHUTTLE_ITERATIONS=$(SCHEDULES) $(CARGO) test --release --locked -p redo -p buffer -p engine --features engine/model --lib model

package:
	scripts/package.sh --check

peers:
	scripts/peers.sh
