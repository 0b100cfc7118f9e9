# rules.mk -- `make bench-host`: servers of several libraries, one client, one table each.
#
# A server whose library is not installed is not built, and the client says so (scripts/setup --all
# installs all).
#
# SPDX-License-Identifier: Apache-2.0
BENCH_HOST := runtime/tests/bench/host
# $(call having,HEADER,WORD): the word where the header is installed.
having = $(if $(wildcard /usr/include/$1),$2)
BENCH_SERVERS := raw_epoll ours $(call having,ev.h,with_libev) $(call having,event2/event.h,\
	with_libevent) $(call having,uv.h,with_libuv) $(call having,boost/asio.hpp,with_asio)
BENCH_LIBS.with_libev := -lev
BENCH_LIBS.with_libevent := -levent
BENCH_LIBS.with_libuv := -luv

$(B)/bench-host/ours $(B)/bench-host/wake: $(B)/bench-host/%: $(B)/plain/$(BENCH_HOST)/%.o \
		$(B)/librewake-rt.a
	$(call link,$(URING) -pthread)
$(B)/bench-host/with_asio: $(B)/plain/$(BENCH_HOST)/with_asio.o
	$(call run,LINK,$(CXX.$(FAMILY)) -o $@ $< -pthread)
$(B)/bench-host/%: $(B)/plain/$(BENCH_HOST)/%.o
	$(call link,$(BENCH_LIBS.$*) -pthread)
# Other people's headers, and calls whose results a benchmark has no use for.
$(BENCH_SERVERS:%=$(B)/plain/$(BENCH_HOST)/%.o) $(B)/plain/$(BENCH_HOST)/driver.o: \
	private override FATAL :=

bench-host: $(BENCH_SERVERS:%=$(B)/bench-host/%) $(B)/bench-host/driver $(B)/bench-host/wake ## ours, libuv …
	@$(B)/bench-host/driver $(ROUNDS)
	@$(B)/bench-host/wake
.PHONY: bench-host
