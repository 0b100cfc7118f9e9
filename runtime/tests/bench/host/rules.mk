# rules.mk -- `make bench-host`: servers of several libraries, one client, one table each.
#
# A server whose library is not installed is not built, and the client says so (scripts/setup --all
# installs all).
#
# SPDX-License-Identifier: Apache-2.0
BENCH_HOST := runtime/tests/bench/host
# Debian's packages of Rust libraries.
CRATES := /usr/share/cargo/registry
# $(call having,HEADER,WORD): the word where the header is installed.
having = $(if $(wildcard /usr/include/$1),$2)
BENCH_SERVERS := raw_epoll ours $(call having,ev.h,with_libev) $(call having,event2/event.h,\
	with_libevent) $(call having,uv.h,with_libuv) $(call having,boost/asio.hpp,with_asio) \
	$(if $(wildcard $(CRATES)/tokio-*),with_tokio)
BENCH_LIBS.with_libev := -lev
BENCH_LIBS.with_libevent := -levent
BENCH_LIBS.with_libuv := -luv

$(addprefix $(B)/bench-host/,ours wake watch): $(B)/bench-host/%: $(B)/plain/$(BENCH_HOST)/%.o \
		$(B)/librewake-rt.a
	$(call link,$(URING) -pthread)
$(B)/bench-host/with_asio: $(B)/plain/$(BENCH_HOST)/with_asio.o
	$(call run,LINK,$(CXX.$(FAMILY)) -o $@ $< -pthread)
$(B)/bench-host/with_tokio: $(BENCH_HOST)/with_tokio.rs $(BENCH_HOST)/with_tokio.toml
	@mkdir -p $(B)/tokio && cp $< $(B)/tokio && cp $(BENCH_HOST)/with_tokio.toml $(B)/tokio/Cargo.toml
	$(call run,RUST,(cd $(B)/tokio && cargo build -q --offline --release \
		--config 'source.crates-io.replace-with="crates"' \
		--config 'source.crates.directory="$(CRATES)"') && mv $(B)/tokio/target/release/with_tokio $@)
$(B)/bench-host/%: $(B)/plain/$(BENCH_HOST)/%.o
	$(call link,$(BENCH_LIBS.$*) -pthread)
# Other people's headers, and calls whose results a benchmark has no use for.
$(BENCH_SERVERS:%=$(B)/plain/$(BENCH_HOST)/%.o) $(B)/plain/$(BENCH_HOST)/driver.o: \
	private override FATAL :=

bench-host: $(addprefix $(B)/bench-host/,$(BENCH_SERVERS) driver wake watch) ## ours, libuv …
	@$(B)/bench-host/driver $(ROUNDS)
	@$(B)/bench-host/wake
	@$(B)/bench-host/watch
.PHONY: bench-host
