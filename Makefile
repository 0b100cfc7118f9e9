# Makefile -- every job of rewake by name; `make help` lists them.
#
# Each variant is built in its own folder, B = build/<BUILD>-<CC>/:
#   plain/  the runtime as it ships        probe/  runtime, sim and scenarios, watched
#   zoo/    patched copies of the runtime  gen/    what scripts write
# Sources are found by wildcard: a new file needs no line here. Parts of this file: fuzz/rules.mk
# (fuzzing), scripts/install.mk (installation), runtime/tests/bench/host/rules.mk (bench-host).
#
# SPDX-License-Identifier: Apache-2.0

help: ## prints this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' \
		Makefile fuzz/rules.mk scripts/install.mk runtime/tests/bench/host/rules.mk
	@echo '  BUILD=$(subst $() ,|,$(BUILDS)) CC=gcc|clang' && echo \
		'  CPPFLAGS CFLAGS CXXFLAGS LDFLAGS JOBS=N V=1 (shows commands)'
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR = $(shell $(CC) -print-prog-name=ar)
endif
BUILD ?= release
B := build/$(BUILD)$(OPT)-$(notdir $(CC))
VERSION := $(shell sed -n 's/^\#define RT_VERSION "\(.*\)"/\1/p' runtime/base/version.h)
JOBS ?= $(shell nproc)
MAKEFLAGS += --no-print-directory $(if $(filter 0,$(MAKELEVEL)),-j$(JOBS))

# ---- flags -------------------------------------------------------------------------------------
# The user's CPPFLAGS, CFLAGS, CXXFLAGS and LDFLAGS, from the environment or the command line, come
# after ours, so that they win.
FAMILY := $(if $(findstring clang,$(CC)),clang,gcc)
TARGET := $(shell $(CC) -dumpmachine)
ifneq ($(and $(findstring musl,$(CC) $(TARGET)),$(filter-out runtime %-rt.a %/runtime-tests,$(or \
	$(MAKECMDGOALS),all))),)
$(error rewake needs glibc: with musl there is the runtime alone, `make runtime`)
endif

# RT_VERIFY walks structures after each change: everywhere but in what ships, and in fuzz targets,
# which verify once an input. -fno-sanitize-recover: a finding fails the test that made it.
SANITIZE := -O1 -fno-omit-frame-pointer -fno-sanitize-recover=all
FLAGS.debug := -O0 -DRT_VERIFY
FLAGS.asan := $(SANITIZE) -DRT_VERIFY -fsanitize=address,undefined
FLAGS.tsan := $(SANITIZE) -DRT_VERIFY -fsanitize=thread
FLAGS.cov := $(FLAGS.debug)
FLAGS.edges := -O2
FLAGS.fuzz := $(SANITIZE) -g1 -fsanitize=fuzzer-no-link,address,undefined
FLAGS.fuzzfast := -O2 -fsanitize=fuzzer-no-link
FLAGS.afl := $(FLAGS.fuzzfast)
FLAGS.oss := -O1
BUILDS := release debug asan tsan cov edges fuzz fuzzfast afl oss
# Two words packed into one vector are stored later than by two stores, and are soon read again; and
# gcc clears and copies structs of up to 8 KiB by `rep stos`, which begins slowly.
FAST.gcc := $(if $(filter x86_64-%,$(TARGET)),$(foreach what,set cpy,\
	-mmem$(what)-strategy=unrolled_loop:64:noalign,libcall:-1:noalign))
FLAGS.release := -O2 -fno-tree-slp-vectorize $(FAST.$(FAMILY))
$(if $(FLAGS.$(BUILD)),,$(error BUILD=$(BUILD): there are $(BUILDS)))
$(if $(filter edges-gcc,$(BUILD)-$(FAMILY)),$(error BUILD=edges takes CC=clang))

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual \
	-Wcast-align -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wwrite-strings \
	-Wpointer-arith -Wundef -Wformat=2 -Wvla -Wimplicit-fallthrough -Wswitch-enum \
	-Wdouble-promotion -Wnull-dereference -Wredundant-decls -Wdate-time
WARN.gcc := -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init
WARN.clang := -Wcomma -Wunreachable-code -Wconditional-uninitialized -Wassign-enum
# Warnings are errors in checks alone. WERROR changes no object, so it is not in the file of flags:
# `make check` after `make` compiles nothing twice.
FATAL := $(if $(WERROR),-Werror)
check check-asan check-tsan check-ucontext check-long quick test mutants coverage \
	coverage-gate: export WERROR := yes

# -fno-common: two definitions of one name are an error. -MMD -MP: headers are prerequisites.
C := -std=c17 -I. -g -fno-common -MMD -MP $(FLAGS.$(BUILD)) $(OPT) $(WARN) $(WARN.$(FAMILY))
CPLUSPLUS := -std=c++20 -I. -g -MMD -MP $(FLAGS.$(BUILD)) $(OPT) -Wall -Wextra -Wpedantic \
	-Wshadow -Wconversion -Wcast-qual
CXX.gcc := g++
CXX.clang := clang++
# --export-dynamic: a user's library of scenarios finds the simulator in the program itself. -z now:
# a name looked up once at the start is not looked up by each worker. __gcov_dump: a process writes
# its counts before it leaves by _exit.
LINK.cov := --coverage -Wl,-u,__gcov_dump,-u,__gcov_reset
LINK := $(CC) -g $(FLAGS.$(BUILD)) $(OPT) -Wl,--export-dynamic -Wl,-z,now $(LINK.$(BUILD)) \
	$(CFLAGS) $(LDFLAGS)
# Two functions of an archive, where there is one: the shared library loads all of libstdc++.
FIBER_LIB := $(shell $(CC) -print-file-name=libboost_context.a)
LIBS := -lsqlite3 -lxxhash $(or $(filter /%,$(FIBER_LIB)),-lboost_context) -ldw -lelf -ldl -lm \
	-pthread
FIBER_LIBS := -lboost_context
TEST_LIBS := -lcheck_pic -lsubunit -lm -lrt -pthread -lstdc++
TEST_FLAGS := -DTEST_TIMEOUT_S=$(if $(filter asan tsan,$(BUILD)),60,20)
# The libraries that bench_timers is compared with, if all are there (scripts/setup --all). libevent
# first: libev has its names too.
PEERS := $(and $(wildcard /usr/include/ev.h),$(wildcard /usr/include/event2/event.h),$(wildcard \
	/usr/include/uv.h),-levent -lev -luv)

# Flags that go by the file's path, $1.
os = $(if $(filter sim/% reports/% fuzz/% runtime/host/% runtime/tests/host/%,$1),-D_GNU_SOURCE)
peers = $(if $(filter %/bench_timers.c,$1),$(if $(PEERS),-DRT_PEERS -Wno-error))
# What can use either host.
uring = $(if $(URING),$(if $(filter runtime/tests/host/% runtime/tests/bench/host/% \
	runtime/host/programs/% sim/tests/host/record/%,$1),-DRT_URING))
# Which memory an instruction means, where libcapstone-dev is there; the library is loaded when it
# is asked, as it would double the time of a start.
CAPSTONE := $(wildcard /usr/include/capstone/capstone.h)
capstone = $(if $(CAPSTONE),$(if $(filter sim/explain/look/decode.c,$1),-DSIM_CAPSTONE))
# gcc takes each local of a test that expects a panic for one that the jump back may have lost.
# Tests are compiled once for each time they run: -O1, which takes half as long as -O2, and still
# warns of what it has followed. With asan -O0 would take another third off, but then what a test
# leaves behind a fault counts as a leak. Benchmarks are measured.
tested = $(if $(findstring /tests/,$1),$(if $(filter gcc,$(FAMILY)),-Wno-clobbered) \
	$(if $(findstring /bench/,$1),,$(TESTED.$(BUILD))))
TESTED.release := -O1
TESTED.asan := -O1 -g1
# Edges of the code under test (sim/search/cover/edges.h). -fno-inline: each copy of inlined code
# would have edges of its own; -O1: each copy of a loop's body as well.
edges = $(if $(filter edges,$(BUILD)),$(if $(filter runtime/% scenarios/%,$1),-O1 -fno-inline \
	-fsanitize-coverage=inline-bool-flag$(,)pc-table))
# Only what the gate is about: a process that ends writes a file for each object that counts.
counted = $(if $(filter cov,$(BUILD)),$(if $(findstring /tests/,$1)$(filter scenarios/% \
	fuzz/%,$1),,--coverage))
, := ,
# A cleanup of its own is called where an exception of the program passes it.
passed = $(if $(filter sim/thread/sync/key.c,$1),-fexceptions)
# $(call compile,FLAGS): compiles one C file.
compile = $(CC) $(C) $(FATAL) $(call os,$<) $(call tested,$<) $(call peers,$<) $(call \
	uring,$<) $(call capstone,$<) $(call \
	counted,$<) $(call passed,$<) $1 $(CPPFLAGS) $(CFLAGS) -c $< -o $@

# ---- sources and objects -----------------------------------------------------------------------
find_c = $(sort $(foreach d,$1,$(wildcard $d/*.c $d/*/*.c $d/*/*/*.c)))
# What release would compile alike it lends. To edges: what no edge is counted of, but sim/bind,
# which is linked with the zoo. To cov: what no line is counted of; none of it verifies. To fuzz:
# what is linked, and no input reaches.
lent.edges = $(filter-out sim/bind/%,$(filter sim/% reports/%,$1))
lent.fuzz = $(filter-out sim/explain/view/% %/finding.c %/ledger.c %/shrink.c %/query.c,$(filter \
	reports/% sim/engine/shrink/% sim/explain/%,$1))
lent.cov = $(foreach f,$(filter %.c,$1),$(if $(findstring /tests/,$f)$(filter scenarios/%,$f),$f))
LENDS.edges := program
LENDS.cov := program test-programs
LENDS.fuzz := lent-fuzz
R := $(if $(LENDS.$(BUILD)),build/release$(OPT)-$(notdir $(CC)),$(B))
lent = $(call lent.$(BUILD),$1)
# $(call objects,FILES,plain|probe)
objects = $(patsubst %,$R/$2/%.o,$(basename $(lent))) $(patsubst %,$(B)/$2/%.o,$(basename \
	$(filter-out $(lent),$1)))
plain = $(call objects,$1,plain)
probe = $(call objects,$1,probe)
RUNTIME := $(filter-out runtime/tests/% runtime/host/% runtime/programs/%,$(call find_c,runtime))
# Programs that users run: a part that is the same on a host and in the simulator, and a main.
SERVERS := $(call find_c,runtime/programs)
# The host over io_uring, where liburing-dev is installed for the target.
URING := $(if $(shell $(CC) -include liburing.h -E -x c /dev/null >/dev/null 2>&1 && \
	echo yes),-luring)
HOST := $(filter-out runtime/host/programs/% $(if $(URING),,runtime/host/uring%),$(call \
	find_c,runtime/host))
PROGRAMS := $(patsubst runtime/host/programs/%_main.c,$(B)/programs/%,$(wildcard \
	runtime/host/programs/*_main.c))
SIM := $(filter-out sim/tests/%,$(call find_c,sim))
# The simulator shares it with the real hosts.
SHARED := runtime/host/stack_mmap.c
# The real hosts, whose runs are recorded and compared with the fake one's.
RECORDED := $(filter-out %/panic.c $(SHARED),$(HOST))
REPORTS := $(filter-out reports/tests/%,$(call find_c,reports))
# scenarios/real and scenarios/threads have programs, which scripts/real and a test build.
WATCHED := $(RUNTIME) $(SERVERS) $(SHARED) $(SIM) $(REPORTS) \
	$(filter-out scenarios/real/% scenarios/threads/%,$(call find_c,scenarios))
HEADERS := $(foreach d,runtime sim,$(wildcard $d/*.h $d/*/*.h $d/*/*/*.h $d/*/*.hpp))
HEADERS := $(filter-out runtime/tests/% sim/tests/%,$(sort $(HEADERS)))
GEN := $(patsubst %,$(B)/gen/%.o,$(wildcard sim/store/tables/*.sql sim/cli/completion.*sh) \
	zoo-programs)
QUERIES := $(patsubst %.sql,$(B)/gen/%.sql.o,$(sort $(wildcard reports/queries/*.sql)))
# Copies of the runtime with a bug in them: their edges count, their lines do not.
Z := $(if $(filter edges fuzz,$(BUILD)),$(B),$R)
ZOO := $(patsubst scenarios/%.patch,$(Z)/%.o,$(sort $(wildcard scenarios/zoo/*.patch)))
SIMULATOR := $(call probe,$(RUNTIME) $(SHARED) $(filter-out sim/cli/main.c,$(SIM)) $(REPORTS)) \
	$(GEN) $(QUERIES)

BENCHES := $(sort $(wildcard runtime/tests/bench/*.c sim/tests/bench/*.c))
# size/ is a program without a C library: its memcpy would take the place of the real one.
RUNTIME_TESTS := $(filter-out runtime/tests/bench/% runtime/tests/size/%,$(call \
	find_c,runtime/tests)) $(sort $(wildcard runtime/tests/*/*.cc))
SIM_TESTS := $(filter-out sim/tests/cli/% sim/tests/truth/main.c $(BENCHES),$(call \
	find_c,sim/tests))
ifneq ($(filter asan tsan,$(BUILD)),) # They have the names of the calls that these play.
SIM_TESTS := $(filter-out sim/tests/posix/% sim/tests/thread/% sim/tests/atomic/%,$(SIM_TESTS))
endif
REPORTS_TESTS := $(call find_c,reports/tests)
# Generated programs against the reference model: sim/tests/truth/README.md.
TRUTH := $(filter-out %_test.c,$(wildcard sim/tests/truth/*.c)) sim/tests/lab.c sim/tests/programs.c
TEST_PROGRAMS := $(addprefix $(B)/,runtime-tests sim-tests reports-tests)

# ---- rules -------------------------------------------------------------------------------------
# $(call run,WORD,command): a step of the build. A terminal shows one counting line, rewritten in
# place, a log its last state; V=1 shows the commands. One that fails is printed in full.
run = @mkdir -p $(@D); $(if $(V),echo '$2',$(call count,$1)); \
	$2 || { echo 'failed: $2' >&2; exit 1; }
steps :=
count = $(eval steps += x)$(call line,$(words $(steps)),$(total),$1)
line = [ ! -t 1 ] || printf '\033[K[%3d/%d] %-4s %.60s\r' $1 $2 $3 $@$(if $(filter $1,$2),; \
	echo '[$1/$2] $3 $@')
# A dry run counts the steps: with COUNT=yes each is a line with the name of the folder.
total = $(eval total := $(shell MAKEFLAGS= $(MAKE) -n COUNT=yes $(MAKEOVERRIDES) $(MAKECMDGOALS) \
	2>&1 | grep -cx ': $(B)'))$(total)
ifdef COUNT
run = : $(B)
endif
# Flags and lists of files are prerequisites too, by files that change only when they do.
$(B)/flags: $(if $(COUNT),,FORCE)
	$(call say,$(CC) $(C) $(CPLUSPLUS) $(LINK) $(LIBS) $(CPPFLAGS) $(CXXFLAGS))
$(B)/sources: $(if $(COUNT),,FORCE)
	$(call say,$(WATCHED) $(RUNTIME_TESTS) $(SIM_TESTS) $(REPORTS_TESTS) $(ZOO) $(QUERIES))
say = @mkdir -p $(@D); echo '$1' | cmp -s - $@ || echo '$1' > $@

$(B)/plain/%.o: %.c $(B)/flags
	$(call run,CC,$(compile))
$(B)/probe/%.o: %.c $(B)/flags
	$(call run,CC,$(call compile,$(call edges,$<) -DRT_PROBES))
$(B)/plain/%.o: %.cc $(B)/flags
	$(call run,CXX,$(CXX.$(FAMILY)) $(CPLUSPLUS) $(FATAL) $(call counted,runtime/) $(CPPFLAGS) \
		$(CXXFLAGS) -c $< -o $@)
# The generated string of an SQL file is longer than the 4095 characters that C promises.
$(B)/gen/%.o: $(B)/gen/%.c
	$(call run,CC,$(CC) $(C) $(FATAL) $(TEST_FLAGS) -Wno-overlength-strings $(CPPFLAGS) $(CFLAGS) \
		-c $< -o $@)
$(B)/gen/%.sql.c: %.sql scripts/sql-to-c
	$(call run,SQL,scripts/sql-to-c $< > $@)
$(B)/gen/%sh.c: %sh scripts/sql-to-c
	$(call run,SQL,scripts/sql-to-c $< > $@)
$(B)/gen/zoo-programs.c: scenarios/README.md scripts/zoo-programs
	$(call run,GEN,scripts/zoo-programs $< > $@)
$(B)/gen/runtime-tests.c: $(RUNTIME_TESTS)
$(B)/gen/sim-tests.c: $(SIM_TESTS)
$(B)/gen/reports-tests.c: $(REPORTS_TESTS)
$(B)/gen/%-tests.c: scripts/test-main $(B)/sources
	$(call run,GEN,scripts/test-main $* $(filter %_test.c %_test.cc,$^) > $@)
$(B)/zoo/%/parts: scenarios/zoo/%.patch scenarios/zoo/%.c scripts/zoo-compile $(B)/flags
	$(call run,ZOO,scripts/zoo-compile $* $(@D) $(CC) $(C) $(FATAL) $(call edges,$<) \
		-DRT_PROBES $(CPPFLAGS) $(CFLAGS))
ifeq ($(Z),$(B))
$(ZOO) &: $(ZOO:.o=/parts) scripts/zoo-link $(call probe,$(RUNTIME) $(filter sim/bind/%,$(SIM)))
	$(call run,ZOO,scripts/zoo-link $(B)/probe $(B)/zoo $(notdir $(ZOO:.o=)))
endif
lent-fuzz: $(call probe,$(call lent.fuzz,$(SIM) $(REPORTS)))
ifneq ($R,$(B))
$R/%.o: lender ;
lender: FORCE ; @$(MAKE) -s BUILD=release $(LENDS.$(BUILD))
endif

$(B)/librewake-rt.a: $(call plain,$(RUNTIME) $(HOST)) $(B)/sources
	$(call run,AR,rm -f $@ && $(AR) rcsD $@ $(filter %.o,$^))
# Scenarios are linked as objects: nothing names them, so an archive would drop them.
link = $(call run,LINK,$(LINK) -o $@ $(filter %.o %.a,$^) $1)
$(B)/rewake: $(call probe,$(WATCHED)) $(GEN) $(QUERIES) $(ZOO) $(B)/sources
	$(call link,$(LIBS))
$(B)/programs/%: $(B)/plain/runtime/host/programs/%_main.o $(call plain,$(SERVERS)) \
		$(B)/librewake-rt.a
	$(call link,$(URING) -pthread)
$(B)/runtime-tests: $(call plain,$(RUNTIME_TESTS) $(SERVERS)) $(B)/gen/runtime-tests.o \
		$(B)/librewake-rt.a
	$(call link,$(TEST_LIBS) $(FIBER_LIBS) $(URING))
$(B)/sim-tests: $(SIMULATOR) $(call probe,$(SIM_TESTS) $(RECORDED)) $(B)/gen/sim-tests.o \
		$(B)/sources
	$(call link,$(LIBS) $(TEST_LIBS) $(URING))
$(B)/reports-tests: $(SIMULATOR) $(call probe,$(REPORTS_TESTS) sim/tests/store/store_box.c) \
		$(B)/gen/reports-tests.o $(B)/sources
	$(call link,$(LIBS) $(TEST_LIBS))
$(B)/truth: $(SIMULATOR) $(call probe,$(TRUTH)) $(B)/sources
	$(call link,$(LIBS))
$(B)/bench/%: $(SIMULATOR) $(B)/probe/sim/tests/bench/%.o $(B)/sources
	$(call link,$(LIBS))
$(B)/bench/%: $(B)/plain/runtime/tests/bench/%.o $(B)/librewake-rt.a
	$(call link,$(if $(filter %/bench_timers,$@),$(PEERS)) -pthread $(FIBER_LIBS))

# ---- jobs: building ----------------------------------------------------------------------------
all: program runtime ## builds build/rewake (release)
ifeq ($(BUILD)$(OPT),release)
	@ln -sfn $(notdir $(B))/rewake build/rewake
endif
	@$(if $(filter 0/,$(MAKELEVEL)/$(filter demo,$(MAKECMDGOALS))),\
		echo '$(B)/rewake is built; `make help` names the other jobs')
program: $(B)/rewake $(B)/librewake-tsan.so
servers: $(PROGRAMS) ## programs over a real host: build/<BUILD>-<CC>/programs/echo
runtime: $(B)/librewake-rt.a ## the runtime library; CC=aarch64-linux-gnu-gcc cross-compiles
zoo: $(ZOO)
test-programs: $(TEST_PROGRAMS) $(B)/truth $(PROGRAMS)
# One variant in its own make: program-debug-clang. Two makes at once in one folder break each
# other: whole-cov-gcc takes all of a variant in one, with fuzz targets where corpora are run.
VARIANT = BUILD=$(firstword $(subst -, ,$*)) CC=$(patsubst $(firstword $(subst -, ,$*))-%,%,$*)
program-%: FORCE ; @$(MAKE) $(VARIANT) program
tests-%: FORCE ; @$(MAKE) $(VARIANT) test-programs
whole-%: FORCE ; @$(MAKE) $(VARIANT) program test-programs \
	$(if $(filter release-% asan-%,$*),,fuzz-programs)
# The lender first: `check-long` asks for both.
program-edges-clang: program-release-clang
program-cov-gcc: installable-release-gcc

# ---- jobs: testing -----------------------------------------------------------------------------
# -e '': tests are programs. -f -o: a failed test is printed with its message. Tests wait, too: one
# more at a time than there are processors.
PROVE_JOBS := $(shell expr $(JOBS) + 1)
PROVE = prove -e '' -f -o --timer -j $(PROVE_JOBS)
# $(call prove,VARIANT,tests): these tests with what is built in the variant's folder.
prove = TIDY_OBJECTS=build/release-$(CC)/probe REWAKE=build/$1/rewake FUZZ=build/$1/fuzz \
	TRUTH=build/$1/truth T= $(PROVE) $2
units = $(TEST_PROGRAMS:$(B)/%=build/$1/%)
SHELL_TESTS := $(sort $(wildcard sim/tests/cli/*.t $(addsuffix /tests/*.t,scripts fuzz reports)))
# The longest begin first, so that none of them is left over when the others are done.
FIRST := $(wildcard $(addprefix sim/tests/cli/,scenarios.t still.t peers.t run.t json.t \
	program_lost.t explain.t library.t))
SHELL_TESTS := $(FIRST) $(filter-out $(FIRST),$(SHELL_TESTS))
# Each takes five seconds of a processor or many more, and tries more of what others try, or takes
# several builds; three of them install: check-long.
LONG := $(wildcard $(addprefix sim/tests/cli/,fate.t swarm.t hostile.t oracle.t sweep.t limits.t \
	docs.t readme.t builds.t) reports/tests/outputs.t \
	$(addprefix scripts/tests/,install.t build.t suite.t))
# One run must be the same run in all of these, which builds.t compares.
MATRIX := release-gcc cov-gcc release-clang edges-clang asan-gcc

check: whole-release-$(CC) ## all tests but the longest, and tidy; two minutes
	@$(call prove,release-$(CC),$(call units,release-$(CC)) scripts/tidy $(filter-out \
		fuzz/% $(LONG),$(SHELL_TESTS)))
check-long: installable-release-$(CC) $(MATRIX:%=program-%) ## these, and one run in five builds
	@INSTALL_ALL=yes REWAKE_MATRIX='$(MATRIX:%=build/%/rewake)' $(call \
		prove,release-$(CC),$(LONG))
# Counters and sanitizers see lines, not figures. These tests reach no line that others do not reach
# (two at most; outputs.t and facts.t raise 17 each of gcov's 50,000 counters): they count what many
# runs find, compare texts, or repeat what other tests do.
FIGURES := $(LONG) $(addprefix sim/tests/cli/,scenarios.t liveness.t truth.t quick_set.t \
	correct.t) reports/tests/facts.t
# Those of `rewake cc` need what the release build installs; a browser reads pages that others made.
CODE_TESTS := $(filter-out $(FIGURES) %/browser.t %/tsan_symbols.t %/cc.t %/litmus.t \
	%/threads_zoo.t %/program_lost.t %/late_timeouts.t %/loops.t,$(filter \
	sim/% fuzz/% reports/%,$(SHELL_TESTS)))
# For memory those matter little that read a database or drive git, but each scenario does, and the
# test that does harm.
# A build with a sanitizer runs no programs. Corpora are run with asan and ubsan by `make fuzz-all`.
ASAN_TESTS := $(addprefix sim/tests/cli/,hostile.t scenarios.t correct.t truth.t) $(filter-out \
	fuzz/% %/program.t %/threads.t %/stacks.t %/bisect.t %/coverage.t %/zoo.t \
	%/query.t,$(CODE_TESTS))
# The search for leaks after each test reads all freed blocks that the sanitizer keeps. Many tests
# crash on purpose, and to find the names of one stack takes half a second: addr2line has them.
check-asan: whole-asan-$(CC) ## the tests that are about code, with asan and ubsan
	@CI= ASAN_OPTIONS=quarantine_size_mb=1:symbolize=0 UBSAN_OPTIONS=symbolize=0 $(call \
		prove,asan-$(CC),$(call units,asan-$(CC)) $(ASAN_TESTS))
# In one make: three that share a folder would write one object at the same time.
coverage: whole-cov-$(CC) ## these and all scenarios, with lines and branches counted: pages, a gate
	@$(count_lines)
coverage-gate: whole-cov-$(CC) ## the gate alone
	@$(count_lines) --gate
# These reach 350 of 62,000 lines that others do not (sim/ 93.5 %, without them 92.7), and take a
# third of the time. They matter for what they compare, and most of them for memory.
COMPARED := $(addprefix sim/tests/cli/,run.t zoo.t library.t threads.t cpp.t default_schedule.t \
	database.t foreign.t measure.t program_hostile.t call_faults.t) \
	$(addprefix reports/tests/,query.t report.t)
count_lines = CC=$(CC) JOBS=$(PROVE_JOBS) TESTS='$(filter-out $(COMPARED),$(CODE_TESTS))' \
	scripts/coverage
check-tsan: tests-tsan-$(CC) ## unit tests with tsan
	@$(call prove,tsan-$(CC),$(call units,tsan-$(CC)))
check-ucontext: ## unit tests, with ucontext switching stacks instead of Boost.Context
	@$(MAKE) BUILD=debug OPT=-DRT_CONTEXT_UCONTEXT test-programs
	@$(call prove,debug-DRT_CONTEXT_UCONTEXT-$(CC),$(call units,debug-DRT_CONTEXT_UCONTEXT-$(CC)))
quick: tests-debug-$(CC) ## unit tests only, in seconds
	@$(call prove,debug-$(CC),$(call units,debug-$(CC)))
test: tests-debug-$(CC) ## unit tests whose names match T: make test T='timer_*'
	@T='$(T)' prove -e '' -v $(call units,debug-$(CC))
elsewhere: ## the runtime and its unit tests: with musl, and for aarch64 under qemu
	@scripts/elsewhere
quick-set: program ## few runs, which reach what 100,000 reached; BUILD=edges CC=clang counts it
	@REWAKE=$(B)/rewake scripts/quick-set
quick-set-renew: program-edges-clang ## finds these runs again, by 100,000 runs; five minutes
	@scripts/quick-set renew
mutants: tests-debug-$(CC) ## plants each bug of runtime/tests/mutants: its tests must fail; T=k6
	@scripts/mutants $(T)
statements: ## each statement of the contract: its tests, and the mutant that they kill
	@scripts/statements
truth: $(B)/truth ## generated programs against the reference model; make truth N=100000
	@scripts/truth $(B)/truth $(or $(N),2000) $(JOBS)
tidy: program-release-$(CC) ## bans, form, plain words, no writable statics
	@TIDY_OBJECTS=build/release-$(CC)/probe scripts/tidy
format: ## clang-format over all sources
	@clang-format-14 -i $$(find runtime sim scenarios reports fuzz scripts/examples -name '*.[ch]' \
		-o -name '*.cc' -o -name '*.hpp')

# ---- jobs: measuring, showing ------------------------------------------------------------------
bench: $(patsubst %.c,$(B)/bench/%,$(notdir $(BENCHES))) ## what a step, a run, a timer cost
	@for program in $^; do echo "$$program" && $$program || exit 1; done
bench-search: all ## how many runs each strategy needs to find what is there; ten minutes
	@scripts/bench-search
bench-shrink: all $(B)/bench/bench_shrink ## how small failures become, and how long it takes
	@$(B)/bench/bench_shrink && scripts/bench-shrink $(B)/rewake
bench-programs: all ## what a run of an ordinary program costs, end to end
	@scripts/bench-programs $(B)/rewake
zoo-drop: ## drops each wake of the zoo's fixed forms once: is it found? minutes
	@scripts/zoo-drop
size: ## text and RAM of the smallest program, for x86-64, Cortex-M4 and Cortex-M0+
	@scripts/size
demo: all ## finds a lost wake-up, explains it, replays it, fixes it; under a minute
	@scripts/demo-steps $(B)/rewake
pages: all ## runs the commands of the documentation and writes into it what they print
	@PATH=$(CURDIR)/build:$$PATH scripts/docs-run --new build/pages README.md sim/docs/*.md
	@scripts/report-picture build/pages/README-md/pages/failure-*.html > sim/docs/lost-wakeup.svg
clean: ## removes build/
	rm -rf build

include fuzz/rules.mk
include scripts/install.mk
include runtime/tests/bench/host/rules.mk
FORCE:
.PHONY: help all program servers runtime zoo test-programs check check-long check-asan coverage \
	coverage-gate check-tsan check-ucontext quick test elsewhere quick-set quick-set-renew mutants \
	statements truth tidy format bench bench-search bench-shrink bench-programs zoo-drop size demo \
	pages clean FORCE
-include $(shell find $(B) -name '*.d' 2>/dev/null)
