# Two commands on a Debian machine that has Rust; both do all the set-up they need.
#   make demo   a source and a replica of Slipstream, a load, and the table of what came out
#   make test   installs the peers that the tests compare with, then runs every check and test
.PHONY: all demo test peers

CARGO ?= cargo

all:
	$(CARGO) build --release --locked

demo:
	$(CARGO) build --release --locked -p server
	$(CARGO) run --quiet --release --locked -p server --bin slipstream -- bench demo $(DEMO_ARGS)

test:
	scripts/test.sh

peers:
	scripts/peers.sh
