/*
 * scenario.h -- a program under test: what it sets up, and what is expected of it.
 *
 *      static void
 *      setup(struct sim_world *world)
 *      {
 *          struct sim_rt *rt = sim_rt_new(world, NULL);
 *          struct pinger *pinger = sim_new(world, struct pinger);
 *          rt_task_init(&pinger->task, pinger_poll, NULL, "pinger");
 *          sim_spawn(rt, &pinger->task);
 *      }
 *
 *      SIM_SCENARIO(ping, .name = "mine/ping", .about = "Two tasks, one token.", .setup = setup);
 *
 * A scenario keeps no state between runs: its memory comes from the world
 * (sim_new) and ends with the run. It calls no oracle: that a task is blocked
 * forever, is woken late, leaks or spins is found without its help. Assertions
 * about its own logic are SIM_ALWAYS.
 *
 * A file (or several) of scenarios built as a shared library is a library of
 * scenarios: `cc -g -shared -fPIC $(pkg-config --cflags rewake) mine.c -o mine.so`,
 * then `rewake run ./mine.so`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/probe.h"
#include "sim/core/decide/options.h"
#include "sim/core/record/outcome.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_world;

/* A number that the user can set: `-D tasks=4`. */
struct sim_param {
    const char *name;
    const char *about;
    int64_t value; /* The default. */
    int64_t min;
    int64_t max;
};

struct sim_deviation;

/* One run of another scenario, kept because it failed once (`rewake promote` writes such files). */
struct sim_regression {
    const char *scenario; /* Has setup, done, check and all else. */
    const char *options;  /* What differed from the defaults: "-D tasks=3 -O step_ns=50", or "". */
    const struct sim_deviation *decisions; /* Taken as far as they fit. */
    uint32_t count;
};

struct sim_scenario {
    const char *file;  /* Set by SIM_SCENARIO; NULL: goals are known only once they are reached. */
    const char *name;  /* "zoo/async-io-07b6cca/broken": words with slashes, no colon, no blank. */
    const char *about; /* One sentence. */
    /* Creates the actors. Called at the start of each run. */
    void (*setup)(struct sim_world *world);
    /* After each step: whether the run is over. NULL: when all tasks and loops, but those in the
     * background, have finished. */
    bool (*done)(struct sim_world *world, void *state);
    /* The user's own assertions about a run that has ended well; NULL: none. */
    void (*check)(struct sim_world *world, void *state);
    const struct sim_param *params; /* Ends with a NULL name; NULL: none. */
    enum sim_order order;
    enum sim_profile profile;
    uint64_t survives;       /* Faults (SIM_FAULT_…) that it claims to survive. */
    uint64_t slack_ns;       /* How late a wake may be: a tick, a coalescing time. */
    enum sim_verdict expect; /* What a sweep should find; PASS by default. */
    /* Where one bug ends in two verdicts: a run may end in this one too, but a sweep must find
     * `expect`. PASS: there is none. */
    enum sim_verdict expect_also;
    /* A real bug, for `rewake zoo`: its number in a catalogue, whose first letter is its class, and
     * where it was described or fixed. The broken form's name ends in "/broken", and the fixed
     * one's, where there is one, in "/fixed". NULL, NULL: none. */
    const char *bug;
    const char *reference;
    /*
     * A promise: tasks access what they share through the runtime (wakers, slots, sync/, timers),
     * the host, or cells (core/cell.h), never as plain memory. Then events show all that a poll
     * depends on, and two adjacent polls whose events do not conflict may be exchanged: the run
     * continues, and ends, as before. Data that one task alone accesses, and data that is not
     * written after setup, is not shared. `done` and `check` may read anything, but must not depend
     * on the order of things that commute (a log that all append to, the clock, the number of
     * steps); nor may a task branch on sim_now without a timer.
     *
     * `dpor` skips orders that are equivalent to one it has run, which is sound only with this
     * promise; without it any two polls conflict. A broken promise is not detected, and bugs are
     * missed.
     */
    bool declared;
    /* The step after which no fault is injected, and the steps and the virtual time within which
     * each run must end then; 0: the default. */
    uint64_t fault_free_after;
    uint64_t converge_steps;
    uint64_t converge_ns;
    /* With name and about alone: `rewake run` makes this one run. NULL: none. */
    const struct sim_regression *regression;
};

/* Whether `verdict` is one that `scenario` expects. */
static inline bool
sim_scenario_states(const struct sim_scenario *scenario, enum sim_verdict verdict)
{
    return sim_verdict_fits(scenario->expect, verdict) ||
           (scenario->expect_also != SIM_VERDICT_PASS &&
                   sim_verdict_fits(scenario->expect_also, verdict));
}

/* Raised when a library built against older headers cannot work. */
#define SIM_LIBRARY_VERSION 4u

/* What a library of scenarios exports: one symbol, `rewake_library`. */
struct sim_library {
    uint32_t version;
    uint32_t scenario_size; /* sizeof(struct sim_scenario) when it was built. */
    const struct sim_scenario *const *scenarios_start;
    const struct sim_scenario *const *scenarios_stop;
    struct rt_site *sites_start;
    struct rt_site *sites_stop;
};

#define SIM_HIDDEN __attribute__((visibility("hidden")))
#define SIM_WEAK_HIDDEN __attribute__((weak, visibility("hidden")))

extern const struct sim_scenario *const __start_rewake_scenarios[] SIM_WEAK_HIDDEN;
extern const struct sim_scenario *const __stop_rewake_scenarios[] SIM_WEAK_HIDDEN;
extern struct rt_site __start_rt_sites[] SIM_WEAK_HIDDEN;
extern struct rt_site __stop_rt_sites[] SIM_WEAK_HIDDEN;

/* g++ warns about members that an initialiser with names leaves out. */
#if defined(__cplusplus) && !defined(__clang__)
#define SIM__NAMED_INITIALISER(...) \
    _Pragma("GCC diagnostic push") \
            _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"") \
                    __VA_ARGS__ _Pragma("GCC diagnostic pop")
#else
#define SIM__NAMED_INITIALISER(...) __VA_ARGS__
#endif

/* Registers a scenario; `identifier` is any name unique in its file. A file may have several. */
#define SIM_SCENARIO(identifier, ...) \
    SIM__NAMED_INITIALISER( \
            static const struct sim_scenario identifier = {.file = __FILE__, __VA_ARGS__};) \
    static const struct sim_scenario *const identifier##__registered \
            __attribute__((section("rewake_scenarios"), used)) = &identifier

/* ---- What a scenario may call. --------------------------------------------------------------- */

/* Memory for this run; never NULL: too much ends the run with verdict contract. Not zeroed: filled
 * with a byte that differs in the replica run. sim_new gives zeroed memory for one `type`. */
void *sim_alloc(struct sim_world *world, size_t size);
void *sim_zalloc(struct sim_world *world, size_t size);
#define sim_new(world, type) ((type *)sim_zalloc((world), sizeof(type)))

/*
 * Frees memory of sim_alloc or sim_new; NULL: no-op. It is overwritten, and not used again in
 * this run. Ends the run
 *
 *      with verdict leak      where a slot in it, or of a foreign runtime (bind/foreign.h),
 *                             holds a waker: nothing can reach it any more
 *      with verdict contract  where a task in it is spawned, where the memory is not of this
 *                             kind, or was freed before; later, where a slot in it is used
 *
 * A clone of a waker (rt_waker_clone) in it is a leak when the run ends, if it was neither woken
 * nor dropped.
 */
#define sim_free(world, memory) sim_free_at((world), (memory), RT_HERE)
void sim_free_at(struct sim_world *world, void *memory, const struct rt_site *line);

/* What done and check are called with. Set once, in setup. */
void sim_set_state(struct sim_world *world, void *state);

/* The parameter called `name`; one that is not declared ends the run with verdict contract. */
int64_t sim_param(struct sim_world *world, const char *name);

/*
 * Virtual time, ns, with what this step has been charged so far. Within a step the clock moves
 * only by sim_work. A step that waits for the clock by reading it in a loop ends as well: after
 * SIM_CLOCK_CALLS calls of sim_now and sim_work in one step the n-th further call charges n ns,
 * and the run's limit of virtual time (time_ns_max) holds inside the step, with verdict
 * time-limit. Not under sim_mock_time.
 */
#define SIM_CLOCK_CALLS 10000u
uint64_t sim_now(struct sim_world *world);

/* This step takes `ns` longer. */
void sim_work(struct sim_world *world, uint64_t ns);

/* A decision of the scenario: an index below `n` (1 .. 64); the baseline is 0. */
uint32_t sim_pick(struct sim_world *world, uint32_t n);

/* Whether to inject a fault of the scenario, by a decision: true once in `one_in` occasions (0:
 * never), and never in the fault-free phase (sim/README.md). */
bool sim_inject(struct sim_world *world, uint32_t one_in);

/* Whether the run is in its fault-free phase. */
bool sim_fault_free(const struct sim_world *world);

/* A number from lo to hi, both included; the baseline is lo. Drawn as a class (lo, hi, the middle,
 * lo+1, another), then by halving. */
uint64_t sim_range(struct sim_world *world, uint64_t lo, uint64_t hi);

/* Adds a line to the run's columns; costs nothing when the run is not recorded. */
#define sim_log(world, ...) sim_log_at((world), RT_HERE, __VA_ARGS__)
__attribute__((format(printf, 3, 4))) void sim_log_at(
        struct sim_world *world, const struct rt_site *site, const char *format, ...);

/* Something was consumed: the livelock limit counts from here, and a blocked task that calls this
 * in the judge's spurious poll could make progress. For what a task takes from its own memory. */
#define SIM_PROGRESS() sim_progress_at(RT_HERE)
void sim_progress_at(const struct rt_site *site);

/* struct rt_site.mark. */
enum sim_mark { SIM_MARK_NONE, SIM_MARK_SOMETIMES, SIM_MARK_REACHABLE, SIM_MARK_ALWAYS };

/* "sometimes", "reachable", "always"; static; "" for others. */
const char *sim_mark_name(uint32_t mark);

/* The user's own assertion: false ends the run with verdict invariant. */
#define SIM_ALWAYS(condition) \
    sim_always_at(!!(condition), #condition, RT_HERE_MARKED(SIM_MARK_ALWAYS, #condition))
void sim_always_at(bool condition, const char *text, const struct rt_site *site);

/*
 * A goal: in a sweep, some run should reach it (with a true condition). The goals of a scenario
 * are all those in its file, reached or not; where several scenarios share a file, those in
 * functions that its runs reach. `rewake coverage` reports a goal that no run of a sweep has
 * reached, and `rewake run --goals` fails.
 */
#define SIM_SOMETIMES(condition) \
    sim_sometimes_at(!!(condition), #condition, RT_HERE_MARKED(SIM_MARK_SOMETIMES, #condition))
#define SIM_REACHABLE() \
    sim_sometimes_at(true, "reachable", RT_HERE_MARKED(SIM_MARK_REACHABLE, "reachable"))
void sim_sometimes_at(bool condition, const char *text, const struct rt_site *site);

/* Registers an audit of a primitive of the scenario (third stage): `audit` returns NULL, or one
 * sentence about what is wrong ("2 permits are free while a task queues"). Called when a run
 * stalls, and at the quiescences that are audited. */
void sim_audit_add(struct sim_world *world, const char *name, const char *(*audit)(void *argument),
        void *argument);

#ifdef __cplusplus
}
#endif
