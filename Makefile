# Makefile -- every job of rewake by name; `make help` lists them.
#
# Each variant is built in a folder of its own, build/<BUILD>-<CC>/:
#   plain/  the runtime as it ships        probe/  runtime, sim and scenarios, watched
#   zoo/    patched copies of the runtime  gen/    what scripts write
# Sources are found by wildcard: a new file needs no line here.
#
# SPDX-License-Identifier: Apache-2.0

help: ## prints this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' \
		Makefile fuzz/rules.mk scripts/install.mk
	@echo '  BUILD=$(subst $() ,|,$(BUILDS)) CC=gcc|clang' && echo \
		'  CPPFLAGS CFLAGS CXXFLAGS LDFLAGS JOBS=N V=1 (shows commands)'
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR = $(shell $(CC) -print-prog-name=ar)
endif
BUILD ?= release
VERSION := $(shell sed -n 's/^\#define RT_VERSION "\(.*\)"/\1/p' runtime/base/version.h)
JOBS ?= $(shell nproc)
MAKEFLAGS += --no-print-directory $(if $(filter 0,$(MAKELEVEL)),-j$(JOBS))

# ---- flags: one block --------------------------------------------------------------------------
B := build/$(BUILD)$(OPT)-$(notdir $(CC))
FAMILY := $(if $(findstring clang,$(CC)),clang,gcc)
TARGET := $(shell $(CC) -dumpmachine)
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual \
	-Wcast-align -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wwrite-strings \
	-Wpointer-arith -Wundef -Wformat=2 -Wvla -Wimplicit-fallthrough -Wswitch-enum \
	-Wdouble-promotion -Wnull-dereference -Wredundant-decls -Wdate-time
WARN.gcc := -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init
WARN.clang := -Wcomma -Wunreachable-code -Wconditional-uninitialized -Wassign-enum
# RT_VERIFY walks structures after each change: everywhere but in what ships.
# -fno-sanitize-recover: a finding must fail the test that made it, not scroll by.
SANITIZE := -O1 -DRT_VERIFY -fno-omit-frame-pointer -fno-sanitize-recover=all
# Two words packed into one vector to be stored come later than two stores, and are soon read again.
# And gcc clears and copies structs of up to 8 KiB by `rep stos`, which takes long to begin.
FAST.gcc := $(if $(filter x86_64-%,$(TARGET)),$(foreach what,set cpy,\
	-mmem$(what)-strategy=unrolled_loop:64:noalign,libcall:-1:noalign))
FLAGS.release := -O2 -fno-tree-slp-vectorize $(FAST.$(FAMILY))
FLAGS.debug := -O0 -DRT_VERIFY
FLAGS.asan := $(SANITIZE) -fsanitize=address,undefined
FLAGS.tsan := $(SANITIZE) -fsanitize=thread
FLAGS.cov := $(FLAGS.debug)
# Each run's edges of the code under test (sim/search/cover/edges.h); only clang makes them. What is
# inlined would be another edge wherever it stands.
FLAGS.edges := -O1 -fno-inline
EDGES := -fsanitize-coverage=inline-bool-flag,pc-table
# Targets verify a structure once an input: with RT_VERIFY they would do little else.
FLAGS.fuzz := $(filter-out -DRT_VERIFY,$(SANITIZE)) -fsanitize=fuzzer-no-link,address,undefined
FLAGS.fuzzfast := -O2 -fsanitize=fuzzer-no-link
FLAGS.afl := $(FLAGS.fuzzfast)
# OSS-Fuzz sets CFLAGS (.clusterfuzzlite/build.sh).
FLAGS.oss := -O1
BUILDS := release debug asan tsan cov edges fuzz fuzzfast afl oss
$(if $(FLAGS.$(BUILD)),,$(error BUILD=$(BUILD): there are $(BUILDS)))
$(if $(filter edges-gcc,$(BUILD)-$(FAMILY)),$(error BUILD=edges takes CC=clang))
# CPPFLAGS, CFLAGS, CXXFLAGS and LDFLAGS are the user's, from the environment or the command line.
# They come after ours, so that they win.
# -fno-common: two definitions of one name are an error. -MMD -MP: headers are prerequisites.
C := -std=c17 -I. -g -fno-common -MMD -MP $(FLAGS.$(BUILD)) $(OPT) $(WARN) $(WARN.$(FAMILY))
# Warnings are errors in checks alone (WERROR=yes). It changes no object, so it is not in the file
# of flags: `make check` after `make` compiles nothing twice.
FATAL := $(if $(WERROR),-Werror)
# Of the tests that are written in C++; <check.h> is C's.
CXX.gcc := g++
CXX.clang := clang++
CPLUSPLUS := -std=c++20 -I. -g -MMD -MP $(FLAGS.$(BUILD)) $(OPT) -Wall -Wextra -Wpedantic \
	-Wshadow -Wconversion -Wcast-qual
# What a process has counted is written before it leaves by _exit (sim/engine/worker/exit_flush.h).
LINK.cov := --coverage -Wl,-u,__gcov_dump,-u,__gcov_reset
# --export-dynamic: a user's library of scenarios finds the simulator in the program itself. -z now:
# what is looked up once at the start is not looked up by each worker.
LINK := $(CC) -g $(FLAGS.$(BUILD)) $(OPT) -Wl,--export-dynamic -Wl,-z,now $(LINK.$(BUILD)) \
	$(CFLAGS) $(LDFLAGS)
# Two functions of an archive, where there is one: the shared library loads all of libstdc++.
FIBER_LIB := $(shell $(CC) -print-file-name=libboost_context.a)
LIBS := -lsqlite3 -lxxhash $(or $(filter /%,$(FIBER_LIB)),-lboost_context) -ldw -lelf -ldl -lm \
	-pthread
# Of the runtime itself: who calls guests on fibers (runtime/fiber/) switches stacks by it.
FIBER_LIBS := -lboost_context
TEST_LIBS := -lcheck_pic -lsubunit -lm -lrt -pthread -lstdc++
TEST_FLAGS := -DTEST_TIMEOUT_S=$(if $(filter asan tsan,$(BUILD)),60,20)
# The operating system's names, only for those who may ask it; zoo-compile does the same.
os = $(if $(filter sim/% reports/% fuzz/% runtime/host/%,$1),-D_GNU_SOURCE)
# gcc takes each local of a test that expects a panic for one that the jump back may have lost.
TEST_WARN.gcc := -Wno-clobbered
# Whom bench_timers measures itself against, where all of them are installed (scripts/setup --all);
# their headers are not written for our warnings. libevent first: libev has its names too.
PEERS := $(and $(wildcard /usr/include/ev.h),$(wildcard /usr/include/event2/event.h),$(wildcard \
	/usr/include/uv.h),-levent -lev -luv)
peers = $(if $(filter %/bench_timers.c,$1),$(if $(PEERS),-DRT_PEERS -Wno-error))
edges = $(if $(filter edges,$(BUILD)),$(if $(filter runtime/% scenarios/%,$1),$(EDGES)))
# Only what the gate is about, and its headers for C++: a process that ends writes a file for each
# object, and tests make thousands of processes.
COUNT.cov := --coverage
counted = $(if $(findstring /tests/,$1),,$(if $(filter scenarios/% fuzz/%,$1),,$(COUNT.$(BUILD))))
quiet = $(if $(findstring /tests/,$1),$(TEST_WARN.$(FAMILY))) $(call peers,$1)
# $(call compile,FLAGS): of one C file.
compile = $(CC) $(C) $(FATAL) $(call os,$<) $(call quiet,$<) $(call counted,$<) $1 $(CPPFLAGS) \
	$(CFLAGS) -c $< -o $@

# ---- sources and objects -----------------------------------------------------------------------
find_c = $(sort $(foreach d,$1,$(wildcard $d/*.c $d/*/*.c $d/*/*/*.c)))
RUNTIME := $(filter-out runtime/tests/% runtime/host/%,$(call find_c,runtime))
SIM := $(filter-out sim/tests/%,$(call find_c,sim))
# What the simulator shares with the real hosts.
SHARED := runtime/host/stack_mmap.c
REPORTS := $(filter-out reports/tests/%,$(call find_c,reports))
WATCHED := $(RUNTIME) $(SHARED) $(SIM) $(REPORTS) $(call find_c,scenarios)
HEADERS := $(foreach d,runtime sim,$(wildcard $d/*.h $d/*/*.h $d/*/*/*.h $d/*/*.hpp))
HEADERS := $(filter-out runtime/tests/% sim/tests/%,$(sort $(HEADERS)))
# size/ is a program without a C library: its memcpy would take the place of the real one.
RUNTIME_TESTS := $(filter-out runtime/tests/bench/% runtime/tests/size/%,$(call \
	find_c,runtime/tests))
RUNTIME_TESTS += $(sort $(wildcard runtime/tests/*/*.cc))
BENCHES := $(sort $(wildcard runtime/tests/bench/*.c sim/tests/bench/*.c))
TRUTH_MAIN := sim/tests/truth/main.c
SIM_TESTS := $(filter-out sim/tests/cli/% $(BENCHES) $(TRUTH_MAIN),$(call find_c,sim/tests))
REPORTS_TESTS := $(call find_c,reports/tests)
STORE_BOX := sim/tests/store/store_box.c
SHELL_TESTS := $(sort $(wildcard sim/tests/cli/*.t $(addsuffix /tests/*.t,sim scripts fuzz \
	reports)))
# The longest begin first, so that none of them is left over when the others are done.
LONGEST := $(wildcard $(addprefix sim/tests/cli/,scenarios.t zoo.t shard.t run.t library.t))
SHELL_TESTS := $(LONGEST) $(filter-out $(LONGEST),$(SHELL_TESTS))
GEN := $(patsubst %.sql,$(B)/gen/%.sql.o,$(wildcard sim/store/tables/*.sql))
QUERIES := $(patsubst %.sql,$(B)/gen/%.sql.o,$(sort $(wildcard reports/queries/*.sql)))
# Copies of the runtime with a bug in them are not counted: debug's are the same without that.
Z := $(if $(filter cov,$(BUILD)),build/debug$(OPT)-$(notdir $(CC)),$(B))
ZOO := $(patsubst scenarios/%.patch,$(Z)/%.o,$(sort $(wildcard scenarios/zoo/*.patch)))
plain = $(patsubst %.c,$(B)/plain/%.o,$(patsubst %.cc,%.c,$1))
probe = $(patsubst %.c,$(B)/probe/%.o,$1)
TEST_PROGRAMS := $(addprefix $(B)/,runtime-tests sim-tests reports-tests)

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
# A file that is new only when what it says is: flags and lists of files are prerequisites too.
say = @mkdir -p $(@D); echo '$1' | cmp -s - $@ || echo '$1' > $@

program: $(B)/rewake
all: program runtime ## builds build/rewake (release)
ifeq ($(BUILD)$(OPT),release)
	@ln -sfn $(notdir $(B))/rewake build/rewake
endif
	@$(if $(filter 0,$(MAKELEVEL)),echo '$(B)/rewake is built; `make help` names the other jobs')

runtime: $(B)/librewake-rt.a ## the runtime library; CC=aarch64-linux-gnu-gcc cross-compiles

$(B)/flags: $(if $(COUNT),,FORCE)
	$(call say,$(CC) $(C) $(CPLUSPLUS) $(LINK) $(LIBS) $(CPPFLAGS) $(CXXFLAGS))
$(B)/sources: $(if $(COUNT),,FORCE)
	$(call say,$(WATCHED) $(RUNTIME_TESTS) $(SIM_TESTS) $(REPORTS_TESTS) $(ZOO) $(QUERIES))
$(B)/plain/%.o: %.c $(B)/flags
	$(call run,CC,$(compile))
$(B)/probe/%.o: %.c $(B)/flags
	$(call run,CC,$(call compile,$(call edges,$<) -DRT_PROBES))
$(B)/plain/%.o: %.cc $(B)/flags
	$(call run,CXX,$(CXX.$(FAMILY)) $(CPLUSPLUS) $(FATAL) $(COUNT.$(BUILD)) $(CPPFLAGS) \
		$(CXXFLAGS) -c $< -o $@)
# The generated string of an SQL file is longer than the 4095 characters that C promises.
$(B)/gen/%.o: $(B)/gen/%.c
	$(call run,CC,$(CC) $(C) $(FATAL) $(TEST_FLAGS) -Wno-overlength-strings $(CPPFLAGS) $(CFLAGS) \
		-c $< -o $@)
$(B)/gen/%.sql.c: %.sql scripts/sql-to-c
	$(call run,SQL,scripts/sql-to-c $< > $@)
$(B)/gen/runtime-tests.c: $(RUNTIME_TESTS) scripts/test-main $(B)/sources
	$(call run,GEN,scripts/test-main runtime $(filter %_test.c %_test.cc,$(RUNTIME_TESTS)) > $@)
$(B)/gen/sim-tests.c: $(SIM_TESTS) scripts/test-main $(B)/sources
	$(call run,GEN,scripts/test-main sim $(filter %_test.c,$(SIM_TESTS)) > $@)
$(B)/gen/reports-tests.c: $(REPORTS_TESTS) scripts/test-main $(B)/sources
	$(call run,GEN,scripts/test-main reports $(filter %_test.c,$(REPORTS_TESTS)) > $@)
$(B)/zoo/%/parts: scenarios/zoo/%.patch scenarios/zoo/%.c scripts/zoo-compile $(B)/flags
	$(call run,ZOO,scripts/zoo-compile $* $(@D) $(CC) $(C) $(FATAL) $(call edges,$<) \
		-DRT_PROBES $(CPPFLAGS) $(CFLAGS))
ifeq ($(Z),$(B))
$(ZOO) &: $(ZOO:.o=/parts) scripts/zoo-link \
		$(call probe,$(RUNTIME) $(filter sim/bind/%,$(SIM)))
	$(call run,ZOO,scripts/zoo-link $(B)/probe $(B)/zoo $(notdir $(ZOO:.o=)))
else
$(ZOO): zoo-of-debug ;
zoo-of-debug: FORCE ; @$(MAKE) BUILD=debug zoo
endif
zoo: $(ZOO)

$(B)/librewake-rt.a: $(call plain,$(RUNTIME) $(call find_c,runtime/host)) $(B)/sources
	$(call run,AR,rm -f $@ && $(AR) rcsD $@ $(filter %.o,$^))
# Scenarios are linked as objects: nothing names them, so an archive would drop them.
$(B)/rewake: $(call probe,$(WATCHED)) $(GEN) $(QUERIES) $(ZOO) $(B)/sources
	$(call run,LINK,$(LINK) -o $@ $(filter %.o,$^) $(LIBS))
$(B)/runtime-tests: $(call plain,$(RUNTIME_TESTS)) $(B)/gen/runtime-tests.o $(B)/librewake-rt.a
	$(call run,LINK,$(LINK) -o $@ $^ $(TEST_LIBS) $(FIBER_LIBS))
SIMULATOR := $(call probe,$(RUNTIME) $(SHARED) $(filter-out sim/cli/main.c,$(SIM))) $(GEN)
$(B)/sim-tests: $(SIMULATOR) $(call probe,$(SIM_TESTS)) $(B)/gen/sim-tests.o $(B)/sources
	$(call run,LINK,$(LINK) -o $@ $(filter %.o,$^) $(LIBS) $(TEST_LIBS))
# Generated programs against the reference model: sim/tests/truth/README.md.
TRUTH := $(filter-out %_test.c,$(wildcard sim/tests/truth/*.c)) sim/tests/lab.c sim/tests/programs.c
$(B)/truth: $(SIMULATOR) $(call probe,$(TRUTH)) $(B)/sources
	$(call run,LINK,$(LINK) -o $@ $(filter %.o,$^) $(LIBS))
$(B)/reports-tests: $(SIMULATOR) $(call probe,$(REPORTS) $(REPORTS_TESTS) $(STORE_BOX)) \
		$(QUERIES) $(B)/gen/reports-tests.o $(B)/sources
	$(call run,LINK,$(LINK) -o $@ $(filter %.o,$^) $(LIBS) $(TEST_LIBS))
$(B)/bench/%: $(SIMULATOR) $(B)/probe/sim/tests/bench/%.o $(B)/sources
	$(call run,LINK,$(LINK) -o $@ $(filter %.o,$^) $(LIBS))
$(B)/bench/%: $(B)/plain/runtime/tests/bench/%.o $(B)/librewake-rt.a
	$(call run,LINK,$(LINK) -o $@ $^ $(if $(filter %/bench_timers,$@),$(PEERS)) -pthread $(FIBER_LIBS))

include fuzz/rules.mk

# ---- jobs --------------------------------------------------------------------------------------
# variant-debug-clang: program and tests of one variant, in a make of their own.
VARIANT = BUILD=$(firstword $(subst -, ,$*)) CC=$(patsubst $(firstword $(subst -, ,$*))-%,%,$*)
binary-%: FORCE ; @$(MAKE) $(VARIANT) program
tests-%: FORCE ; @$(MAKE) $(VARIANT) test-programs
test-programs: $(TEST_PROGRAMS) $(B)/truth
# Two makes at once in one folder break each other: who wants all of a variant takes it in one.
whole-%: FORCE ; @$(MAKE) $(VARIANT) program test-programs fuzz-programs
# One run must be the same run in all of these.
MATRIX := release-gcc debug-gcc release-clang edges-clang asan-gcc
# -e '': tests are programs of their own. -f -o: a failed test is told with its message.
PROVE := prove -e '' -f -o --timer -j $(JOBS)
# $(call prove,tests' variant,program's variant,further test programs)
prove = TIDY_OBJECTS=build/release-$(CC)/probe REWAKE=build/$2/rewake FUZZ=build/$1/fuzz \
	TRUTH=build/$1/truth \
	REWAKE_MATRIX='$(MATRIX:%=build/%/rewake)' T= $(PROVE) $(TEST_PROGRAMS:$(B)/%=build/$1/%) $3

others = $(addprefix binary-,$(filter-out $(addsuffix -$(CC),debug release),$(MATRIX)))
check: $(addsuffix -$(CC),whole-debug installable-release) $(others) ## all tests and tidy
	@$(call prove,debug-$(CC),release-$(CC),$(SHELL_TESTS) scripts/tidy)
# They count how often something is found in many runs, compare texts, or drive git: code that
# others run too.
COUNTING := $(addprefix sim/tests/cli/,swarm.t liveness.t bisect.t oracle.t coverage.t zoo.t) \
	reports/tests/outputs.t
ASAN_TESTS := $(filter-out $(COUNTING),$(filter sim/% fuzz/% reports/%,$(SHELL_TESTS)))
# The search for leaks after each test reads all freed blocks that the sanitizer keeps.
check-asan: whole-asan-$(CC) ## the same with asan and ubsan
	@ASAN_OPTIONS=quarantine_size_mb=1 $(call prove,asan-$(CC),asan-$(CC),$(ASAN_TESTS))
check-tsan: tests-tsan-$(CC) ## unit tests with tsan
	@$(call prove,tsan-$(CC),tsan-$(CC))
check-ucontext: ## unit tests, with ucontext switching stacks instead of Boost.Context
	@$(MAKE) BUILD=debug OPT=-DRT_CONTEXT_UCONTEXT test-programs
	@$(call prove,debug-DRT_CONTEXT_UCONTEXT-$(CC),debug-$(CC))
quick: tests-debug-$(CC) ## unit tests only, in seconds
	@$(call prove,debug-$(CC),debug-$(CC))
quick-set: program ## few runs, which reach what 100,000 reached; BUILD=edges CC=clang counts it
	@REWAKE=$(B)/rewake scripts/quick-set
quick-set-renew: binary-edges-clang ## finds these runs again, by 100,000 runs; five minutes
	@scripts/quick-set renew
test: tests-debug-$(CC) ## unit tests whose names match T: make test T='timer_*'
	@T='$(T)' prove -e '' -v $(TEST_PROGRAMS:$(B)/%=build/debug-$(CC)/%)
mutants: tests-debug-$(CC) ## plants each bug of runtime/tests/mutants: its tests must fail; T=k6
	@scripts/mutants $(T)
statements: ## each statement of the contract: its tests, and the mutant that they kill
	@scripts/statements
truth: $(B)/truth ## generated programs against the reference model; make truth N=100000
	@scripts/truth $(B)/truth $(or $(N),2000) $(JOBS)
matrix: $(MATRIX:%=binary-%) ## builds what the replay test compares: gcc, clang, O0, O2, asan
bench: $(patsubst %.c,$(B)/bench/%,$(notdir $(BENCHES))) ## what a step, a run, a timer cost
	@for program in $^; do echo "$$program" && $$program || exit 1; done
bench-search: all ## how many runs each strategy needs to find what is there; ten minutes
	@scripts/bench-search
bench-shrink: all $(B)/bench/bench_shrink ## how small failures become, and how long it takes
	@$(B)/bench/bench_shrink && scripts/bench-shrink $(B)/rewake
zoo-drop: ## drops each wake of the zoo's fixed forms once: is it found? minutes
	@scripts/zoo-drop
size: ## text and RAM of the smallest program, for x86-64, Cortex-M4 and Cortex-M0+
	@scripts/size
demo: all ## finds a lost wake-up, tells it, stores it, replays it; under 2 minutes
	@scripts/demo-steps $(B)/rewake
pages: all ## runs the commands of the documentation and writes into it what they print
	@PATH=$(CURDIR)/build:$$PATH scripts/docs-run --new build/pages README.md sim/docs/*.md
	@scripts/report-picture build/pages/README-md/pages/failure-*.html > sim/docs/lost-wakeup.svg
tidy: binary-release-$(CC) ## bans, form, plain words, no writable statics
	@TIDY_OBJECTS=build/release-$(CC)/probe scripts/tidy
format: ## clang-format over all sources
	@clang-format-14 -i $$(find runtime sim scenarios reports fuzz -name '*.[ch]' -o -name '*.cc' \
		-o -name '*.hpp' 2>/dev/null)
# In one make: three that share a folder would write one object at the same time.
coverage: ## lines and branches; a gate
	@$(MAKE) BUILD=cov program test-programs fuzz-programs
	@CC=$(CC) JOBS=$(JOBS) scripts/coverage

check check-asan check-tsan check-ucontext quick test mutants coverage: export WERROR := yes

include scripts/install.mk
clean: ## removes build/
	rm -rf build

FORCE:
.PHONY: all program runtime help check check-asan check-tsan check-ucontext quick quick-set \
	quick-set-renew test test-programs mutants statements matrix bench bench-search \
	bench-shrink zoo-drop size demo pages tidy format coverage zoo truth clean FORCE
.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
