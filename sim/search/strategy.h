/*
 * strategy.h -- every strategy there is, its parameters and its interface.
 *
 *      --strategy pct:d=4        name, and parameters that differ from their defaults
 *
 * Three sorts:
 *
 *   plain       run i is a function of (seed, parameters)
 *   adaptive    … and of the statistics of earlier epochs of the sweep (learn/learned.h)
 *   sequential  run i+1 depends on run i, on one worker: an enumeration. `more` reports its end.
 *               Its memory outlives a worker process that dies in a run: `more` without an `end`
 *               before it means that the process died.
 *
 * Only indices of alternatives reach the tape, so the runs of all strategies replay and shrink.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/decide/choice.h"
#include "sim/search/learn/learned.h"

#define SIM_STRATEGY_PARAMS_MAX 6u
/* The most memory that a strategy may need. */
#define SIM_STRATEGY_BYTES_MAX (8u << 20)
#define SIM_STRATEGY_ERROR_MAX 256u
#define SIM_STRATEGY_TEXT_MAX 128u

struct sim_strategy_param {
    const char *name;
    const char *about;
    uint64_t value; /* The default. */
    uint64_t min;
    uint64_t max;
};

/* A strategy and its parameters: the value of `--strategy`. Plain data, sent to workers. */
struct sim_search {
    uint32_t kind;  /* Index in the table. */
    uint32_t swarm; /* 1: each seed also draws options (sim/search/swarm.h). */
    uint64_t params[SIM_STRATEGY_PARAMS_MAX];
};

/* The arguments of `init`. */
struct sim_strategy_setting {
    const struct sim_search *search;   /* Borrowed for as long as the strategy is used. */
    const struct sim_learned *learned; /* Likewise; NULL for one that does not learn. */
    uint64_t first;                    /* Seed of run 0 of the sweep: run i has seed first + i. */
    bool declared;                     /* The scenario's promise (sim_scenario.declared). */
};

/* The progress of an enumeration. */
struct sim_space {
    uint64_t runs;      /* Begun so far. */
    uint64_t redundant; /* Of those, equivalent to earlier ones; 0 where this is not detected. */
    bool exhausted;     /* All runs within its bounds are made. */
    bool cut;           /* Runs beyond its depth or its capacity were left out. */
    bool timed;         /* It requires that steps take no time, and a run depended on the clock. */
    bool differs;       /* A run had another choice than the one before in the same place. */
    uint32_t bound;     /* Deviations of a run at most; UINT32_MAX: any number. */
    uint32_t whole;     /* All runs with at most so many are made; UINT32_MAX: not known. */
    uint32_t depth;     /* The most choices that a run had. */
    uint32_t covered; /* Share of the space, as far as its shape is known, in 2^-32; 0: unknown. */
    const char *why;  /* A remark for the user, one clause; NULL: none. */
};

struct sim_strategy_kind {
    const char *name;
    const char *about;                                         /* One line, for people. */
    struct sim_strategy_param params[SIM_STRATEGY_PARAMS_MAX]; /* Ends with a NULL name. */
    bool adaptive;
    bool sequential;
    bool swarms;             /* Its runs draw options unless swarm=0 is given. */
    size_t size;             /* Of its memory; unused where … */
    size_t (*measure)(void); /* … this returns it; else NULL. */
    struct sim_strategy_ops ops;
    /* Of sim_strategy_make, after `ops` are set; NULL: nothing else is needed. */
    void (*init)(void *memory, const struct sim_strategy_setting *setting);
    /* Sequential only, before `begin`: whether there is one more run. */
    bool (*more)(struct sim_strategy *strategy);
    /* Sequential only, between runs: its progress. */
    void (*space)(const struct sim_strategy *strategy, struct sim_space *ret);
    /* After `begin`: the strategy that makes this run, as its index in the table; NULL: itself. */
    uint32_t (*maker)(const struct sim_strategy *strategy);
    /* After the run with index `run` of the sweep: notes facts that its events do not show; NULL:
     * there are none. */
    void (*note)(const struct sim_strategy *strategy, struct sim_facts *facts, uint64_t run);
};

/* Each is defined in the file of its name; random and baseline in plain.c. */
extern const struct sim_strategy_kind sim_strategy_random;
extern const struct sim_strategy_kind sim_strategy_baseline;
extern const struct sim_strategy_kind sim_strategy_portfolio;
extern const struct sim_strategy_kind sim_strategy_guided;
extern const struct sim_strategy_kind sim_strategy_exhaustive;
extern const struct sim_strategy_kind sim_strategy_delay;
extern const struct sim_strategy_kind sim_strategy_pct;
extern const struct sim_strategy_kind sim_strategy_pos;
extern const struct sim_strategy_kind sim_strategy_rf;
extern const struct sim_strategy_kind sim_strategy_surw;
extern const struct sim_strategy_kind sim_strategy_urw;
extern const struct sim_strategy_kind sim_strategy_dpor;
extern const struct sim_strategy_kind sim_strategy_relay;

/* Strategies in the table. */
uint32_t sim_strategy_count(void);

/* Number `index` of the table, below sim_strategy_count. */
const struct sim_strategy_kind *sim_strategy_at(uint32_t index);

/* Bytes of memory that the strategy at `index` needs. */
size_t sim_strategy_size(uint32_t index);

/*
 * Makes the strategy of `setting` at the beginning of `memory` (zeroed, aligned to 64, of
 * sim_strategy_size bytes), for many runs. Called again, in zeroed memory, when learned statistics
 * or search change; for a sequential one only once in a sweep.
 */
struct sim_strategy *sim_strategy_make(void *memory, const struct sim_strategy_setting *setting);

/* The index of the strategy called `name`; UINT32_MAX: there is none. */
uint32_t sim_strategy_find(const char *name);

/* The strategy at `index` with its default parameters. */
void sim_search_init(struct sim_search *search, uint32_t index);

/*
 * Parses "NAME" or "NAME:key=value,…". False: *ret_search is not touched and `error` completes a
 * sentence whose subject is `text`: "is no strategy: there are …".
 */
bool sim_search_parse(
        const char *text, struct sim_search *ret_search, char error[SIM_STRATEGY_ERROR_MAX]);

/* "pct:d=4", with the parameters that differ from their defaults, in `text`. */
void sim_search_text(const struct sim_search *search, char *text, size_t size);

/* Parameter `name` of a strategy of `kind`, which has it. */
uint64_t sim_search_param(const struct sim_search *search, const char *name);

/* Defines `name`, the `events` of a strategy that is a struct `type` and takes each by `take`: a
 * direct call, since a run has many events. */
#define SIM_STRATEGY_EVENTS(name, type, take) \
    static void name( \
            struct sim_strategy *strategy, const struct sim_event *events, uint32_t count) \
    { \
        struct type *own = (void *)strategy; \
        for (uint32_t i = 0; i < count; i++) { \
            take(own, &events[i]); \
        } \
    }
