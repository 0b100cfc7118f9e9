# rules.mk -- how fuzz targets are built and run; the Makefile includes it.
#
# A target is fuzz/runtime/NAME.c, over the runtime as it ships, or fuzz/sim/NAME.c, over the
# simulator with all scenarios (parts of that target alone: fuzz/sim/NAME/). Its program is
# build/VARIANT/fuzz/NAME:
#
#   BUILD=fuzz CC=clang          libFuzzer, asan and ubsan       what `make fuzz` runs
#   BUILD=fuzzfast CC=clang      libFuzzer alone                 for speed
#   BUILD=afl CC=afl-clang-fast  AFL++'s driver                  what `make fuzz-afl` runs
#   BUILD=oss                    OSS-Fuzz's flags and engine     what .clusterfuzzlite/build.sh builds
#   any other                    main.c: runs files and folders  what `make coverage` runs
#
# SPDX-License-Identifier: Apache-2.0

FUZZ := $(sort $(filter-out empty,$(basename $(notdir $(wildcard fuzz/runtime/*.c fuzz/sim/*.c)))))
FUZZ_ALL := $(addprefix $(B)/fuzz/,$(FUZZ))
FUZZ_ENGINE := $(if $(filter fuzz fuzzfast afl,$(BUILD)),-fsanitize=fuzzer)
FUZZ_PARTS := $(call plain,$(filter-out fuzz/main.c,$(wildcard fuzz/*.c)))
FUZZ_DRIVER := $(if $(FUZZ_ENGINE),,$(B)/plain/fuzz/main.o)
# The runtime's targets read answers, not words: tracing comparisons, the depth of the stack, and
# indirect calls (the edges after the call show the same) has no effect there, and takes two thirds
# of an execution.
# Private: the prerequisites of an object must not inherit it, least of all the file of flags.
$(B)/plain/%.o: private C += $(if $(filter fuzz fuzzfast,$(BUILD)),-O2 \
	-fno-sanitize-coverage=trace-cmp$(,)stack-depth$(,)indirect-calls)
# What a target of the simulator may call: all of it, and what scenarios register themselves.
FUZZ_WORLD := $(call probe,$(filter-out sim/cli/main.c,$(WATCHED))) $(GEN) $(ZOO)

$(B)/fuzz/%: $(B)/plain/fuzz/runtime/%.o $(FUZZ_PARTS) $(FUZZ_DRIVER) $(B)/librewake-rt.a
	$(call run,LINK,$(LINK) -o $@ $(filter %.o %.a,$^) $(FUZZ_ENGINE) -pthread $(FIBER_LIBS))
$(B)/fuzz/%: $(B)/probe/fuzz/sim/%.o $(FUZZ_PARTS) $(FUZZ_DRIVER) $(FUZZ_WORLD) $(B)/sources
	$(call run,LINK,$(LINK) -o $@ $(filter %.o,$^) $(FUZZ_ENGINE) $(LIBS))
# Hand-made runs, from the tests of the explanations.
$(B)/fuzz/show: $(call probe,sim/tests/explain/tale.c)
# A target may have separate parts: fuzz/sim/NAME/*.c.
$(foreach n,$(FUZZ),$(eval $(B)/fuzz/$n: $(call probe,$(wildcard fuzz/sim/$n/*.c))))
fuzz-programs: $(FUZZ_ALL)

# One target for S seconds: T=slab S=60. SEED=0 draws one.
S ?= 60
SEED ?= 0
FUZZ_DIR := build/fuzz-clang
known = $(if $(filter $(T),$(FUZZ)),,$(error T=NAME, one of: $(FUZZ)))

fuzz: ## one fuzz target for S seconds: make fuzz T=slab S=60
	$(call known)@$(MAKE) BUILD=fuzz CC=clang $(FUZZ_DIR)/fuzz/$(T)
	@scripts/fuzz-one $(T) $(S) $(SEED)
fuzz-all: ## each fuzz target for S seconds, one line each: make fuzz-all S=60
	@$(MAKE) BUILD=fuzz CC=clang fuzz-programs
	@scripts/fuzz-all $(S) $(SEED) $(JOBS) $(FUZZ)
fuzz-afl: ## the same under AFL++: make fuzz-afl T=slab S=60
	$(call known)@$(MAKE) BUILD=afl CC=afl-clang-fast build/afl-afl-clang-fast/fuzz/$(T)
	@mkdir -p build/afl-afl-clang-fast/found && AFL_SKIP_CPUFREQ=1 AFL_NO_UI=1 \
		AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 afl-fuzz -V $(S) -i fuzz/corpus/$(T) \
		$(if $(wildcard fuzz/dict/$(T).dict),-x fuzz/dict/$(T).dict) \
		-o build/afl-afl-clang-fast/found/$(T) -- build/afl-afl-clang-fast/fuzz/$(T)
fuzz-merge: ## the corpus of T, with new inputs, reduced to those that its coverage needs
	$(call known)@$(MAKE) BUILD=fuzz CC=clang $(FUZZ_DIR)/fuzz/$(T)
	@scripts/fuzz-merge $(FUZZ_DIR) $(T)
fuzz-oss: ## the steps of OSS-Fuzz and ClusterFuzzLite, run locally
	@scripts/fuzz-oss
fuzz-seeds: all ## inputs for the target `scenario`, made from runs of the scenarios
	@scripts/fuzz-seeds $(B)/rewake fuzz/corpus/scenario
fuzz-climb: ## a race at the end of a long path, found with schedule coverage, and without
	@$(MAKE) BUILD=fuzzfast CC=clang build/fuzzfast-clang/fuzz/scenario
	@scripts/fuzz-climb build/fuzzfast-clang/fuzz/scenario
fuzz-mutants: ## plants each bug of fuzz/mutants: its target must find it in 60 s; T=slab
	@scripts/fuzz-mutants $(T)
fuzz-speed: ## executions a second of 100 operations, beside an empty target
	@$(MAKE) BUILD=fuzz CC=clang fuzz-programs $(FUZZ_DIR)/fuzz/empty
	@$(MAKE) BUILD=fuzzfast CC=clang fuzz-programs build/fuzzfast-clang/fuzz/empty
	@scripts/fuzz-speed
.PHONY: fuzz fuzz-programs fuzz-all fuzz-afl fuzz-merge fuzz-seeds fuzz-climb fuzz-oss \
	fuzz-mutants fuzz-speed
