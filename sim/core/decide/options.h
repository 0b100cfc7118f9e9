/*
 * options.h -- the numbers that, with scenario and seed, determine a run.
 *
 * One list defines the struct, the defaults, the names on the command line (`-O
 * step_ns=50`), and the fields of tokens and of the database. A run is a pure function
 * of (scenario, options, seed, decisions).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In which order a runtime's woken tasks are polled. */
enum sim_order {
    SIM_ORDER_DEFAULT, /* The scenario's, else `any`. */
    SIM_ORDER_ANY,     /* Each pick is a decision. */
    SIM_ORDER_FIFO,
    SIM_ORDER_LIFO_SLOT,
    SIM_ORDER_PRIORITY,
    SIM_ORDER_EDF,
    SIM_ORDER_FAIR
};

#define SIM_ORDER_LAST SIM_ORDER_FAIR

/* How the fake host behaves within its contract; sim/host/README.md has the list. */
enum sim_profile {
    SIM_PROFILE_DEFAULT, /* The scenario's, else `wasi`. */
    SIM_PROFILE_WASI,    /* Strict WASI 0.2.1. */
    SIM_PROFILE_HOSTILE, /* Also spurious readiness, late and batched events, which are legal. */
    SIM_PROFILE_FD       /* Descriptors, lowest number first, batches, level and edge. */
};

/* Faults beyond what every correct program must survive; on only where the scenario claims to
 * survive them (`survives`) or an option says so. */
#define SIM_FAULT_CANCEL UINT64_C(1)      /* A task is cancelled while it is blocked. */
#define SIM_FAULT_CLOCK UINT64_C(2)       /* The clock steps: suspends, coarse ticks, backwards. */
#define SIM_FAULT_CAPACITY UINT64_C(4)    /* The host says FULL before it is. */
#define SIM_FAULT_EINTR UINT64_C(8)       /* A blocked poll is interrupted: no event. */
#define SIM_FAULT_MIGRATE UINT64_C(16)    /* A task continues under another waker (W11). */
#define SIM_FAULT_REENTRANCY UINT64_C(32) /* A wake or a cleanup calls back at once (W7). */
#define SIM_FAULT_NET UINT64_C(64)        /* Connections are refused, lost, aborted, reset. */
#define SIM_FAULT_CALLS UINT64_C(128)     /* Calls of a program fail (record/call_fault.h). */
#define SIM_FAULT_PARTITION UINT64_C(256) /* A machine of the network is cut off for a while. */
#define SIM_FAULTS 9u
#define SIM_FAULT_ALL ((UINT64_C(1) << SIM_FAULTS) - 1)
#define SIM_FAULT_FROM_SCENARIO UINT64_C(0x8000000000000000)

/* The largest step number in an event; and what sums of do not overflow. */
#define SIM_STEPS_LAST UINT32_MAX
#define SIM_NS_LAST (UINT64_C(1) << 60)

/*
 * name, default, least, most, what it is. The order is part of tokens: append only. Outside of the
 * limits of step_ns, livelock_steps, starvation_steps and fair_steps correct programs would fail:
 * they wait for several steps, and have deadlines that a step must not be longer than.
 */
#define SIM_OPTION_LIST(X) \
    X(step_ns, 100, 0, 10000, "virtual time that a step costs, up to 10000") \
    X(order, 0, 0, SIM_ORDER_LAST, \
            "order of woken tasks: scenario (what it declares), any, fifo, lifo-slot, priority, " \
            "edf, fair") \
    X(profile, 0, 0, SIM_PROFILE_FD, "the host's: scenario (what it declares), wasi, hostile, fd") \
    X(faults, SIM_FAULT_FROM_SCENARIO, 0, SIM_FAULT_ALL, \
            "names with commas between, or their mask: cancel, clock, capacity, eintr, migrate, " \
            "reentrancy, net, calls, partition") \
    X(spurious_one_in, 32, 0, UINT16_MAX, \
            "a spurious wake or report once in so many occasions, of one actor at most 64 " \
            "without " \
            "progress; 0 never") \
    X(late_one_in, 8, 0, UINT16_MAX, "a late host event once in so many; 0 never") \
    X(slow_one_in, 16, 0, UINT16_MAX, \
            "a slow step once in so many while a deadline is armed; 0 never") \
    X(fault_one_in, 32, 0, UINT16_MAX, "an enabled fault once in so many occasions; 0 never") \
    X(audit_one_in, 1, 0, UINT16_MAX, \
            "an audited quiescence once in so many; 0 never; of more than 32 in a run 16 to 32") \
    X(slack_ns, 0, 0, SIM_NS_LAST, "how late a wake may be before an audit reports it") \
    X(livelock_steps, 10000, 5000, SIM_STEPS_LAST, \
            "steps without progress that are a livelock, at least 5000") \
    X(starvation_steps, 1000, 500, SIM_STEPS_LAST, \
            "steps passed over, or not polled, that are starvation, at least 500") \
    X(fair_steps, 200, 0, 500, \
            "steps after which the simulator itself passes no actor over, up to 500") \
    X(steps_max, 1000000, 1, SIM_STEPS_LAST, \
            "steps of a run: the step limit, which every run must keep") \
    X(time_ns_max, 3600000000000, 1, SIM_NS_LAST, \
            "virtual time of a run: the time limit, which every run must keep") \
    X(cancel_at, 0, 0, SIM_STEPS_LAST, \
            "cancel the task of the n-th suspension of the run, which it must survive; 0 none") \
    X(fault_free_after, 0, 0, SIM_STEPS_LAST, \
            "steps after which no fault is injected any more; 0 the scenario's") \
    X(converge_steps, 0, 0, SIM_STEPS_LAST, \
            "steps that it may take from then on; 0 the scenario's") \
    X(converge_ns, 0, 0, SIM_NS_LAST, \
            "virtual time that it may take from then on; 0 the scenario's") \
    X(plain, 0, 0, 1, "1: a plain access of code that `rewake cc` made is a decision point too")

/* Where neither an option nor the scenario sets them. More than any run of this repository takes
 * that ends, and ten times livelock_steps: see sim/README.md, The fault-free phase. */
#define SIM_FAULT_FREE_AFTER 20000u
#define SIM_CONVERGE_STEPS 100000u

/* The virtual time that passes at least within livelock_steps without progress: what the defaults
 * of step_ns and livelock_steps make (sim/README.md, rule 5). */
#define SIM_BUSY_NS 1000000u

/*
 * What threads of a program lose of time by default, as where they have to wait for a processor: in
 * any span of time at most SIM_LOST_NS, and one part in SIM_LOST_SHARE of the span. A deadline that
 * is further off is overtaken by nothing that did not take that long.
 */
#define SIM_LOST_NS 20000000u
#define SIM_LOST_SHARE 16u

#define SIM_PARAMS_MAX 16

struct sim_options {
#define SIM_OPTION_FIELD(name, value, least, most, about) uint64_t name;
    SIM_OPTION_LIST(SIM_OPTION_FIELD)
#undef SIM_OPTION_FIELD
    int64_t params[SIM_PARAMS_MAX]; /* Of the scenario, in its order. */
};

enum sim_option_index {
#define SIM_OPTION_INDEX(name, value, least, most, about) SIM_OPTION_##name,
    SIM_OPTION_LIST(SIM_OPTION_INDEX)
#undef SIM_OPTION_INDEX
            SIM_OPTIONS
};

struct sim_scenario;

/* The defaults, and the defaults of the scenario's parameters (`scenario` may be NULL: zeros). */
void sim_options_init(struct sim_options *options, const struct sim_scenario *scenario);

struct sim_option {
    const char *name;
    const char *about; /* One line. */
    uint64_t value;    /* The default. */
    uint64_t least;
    uint64_t most; /* Of `faults` the mask of all; SIM_FAULT_FROM_SCENARIO is valid too. */
};

/* By enum sim_option_index. */
extern const struct sim_option sim_option_table[SIM_OPTIONS];

#define sim_option_name(index) (sim_option_table[index].name)
#define sim_option_about(index) (sim_option_table[index].about)
#define sim_option_default(index) (sim_option_table[index].value)
#define sim_option_min(index) (sim_option_table[index].least)
#define sim_option_max(index) (sim_option_table[index].most)

/* "cancel", "clock" …: the fault of each bit; static. */
extern const char *const sim_fault_names[SIM_FAULTS];

/* "fifo" …: what value `value` of option `index` is called, static; NULL: it is a number only. */
const char *sim_option_word(uint32_t index, uint64_t value);

/* The value that `text`, of `length`, calls so: one word, or, of `faults`, several with commas
 * between. False: there is none. */
bool sim_option_by_word(uint32_t index, const char *text, size_t length, uint64_t *ret_value);

/* Whether option `index` may have this value. */
bool sim_option_valid(uint32_t index, uint64_t value);
uint64_t *sim_option_at(struct sim_options *options, uint32_t index);
uint64_t sim_option_get(const struct sim_options *options, uint32_t index);

/* A hash of the declared options, parameters and defaults of `scenario`: tokens carry it, and a
 * token made under other declarations is refused. */
uint32_t sim_options_hash(const struct sim_scenario *scenario);

#ifdef __cplusplus
}
#endif
