/*
 * strategy.h -- the strategies by name, and what one needs to begin.
 *
 *      --strategy pct:d=4        name, and parameters that differ from their defaults
 *
 * A strategy's file defines one `const struct sim_strategy_kind`, which stands in the
 * table in strategy.c; nothing else knows it. Three sorts:
 *
 *   plain       run i is a function of (seed, parameters)
 *   adaptive    … and of the statistics that earlier epochs of the sweep left (learn/learned.h)
 *   sequential  run i+1 begins where run i ended, on one worker: an enumeration. It says when
 *               there is nothing left. Its memory outlives a worker whose process died in a
 *               run: `begin` without an `end` before it means that the run ended there.
 *
 * Whatever a strategy does, only indices reach the tape, so each of its runs replays
 * and shrinks like any other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_STRATEGY_H
#define SIM_SEARCH_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/choice.h"
#include "sim/search/learn/learned.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_STRATEGY_PARAMS_MAX 6u
/* The most memory that a strategy may ask for. */
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

/* A strategy and its parameters: what `--strategy` names. Plain data: it travels to workers. */
struct sim_search {
    uint32_t kind;  /* Place in the table. */
    uint32_t swarm; /* 1: each seed also draws options (sim/search/swarm.h). */
    uint64_t params[SIM_STRATEGY_PARAMS_MAX];
};

/* What a strategy is made from. */
struct sim_strategy_setting {
    const struct sim_search *search;   /* Borrowed for as long as the strategy is used. */
    const struct sim_learned *learned; /* Likewise; NULL for one that does not learn. */
    uint64_t first;                    /* Seed of run 0 of the sweep: run i has seed first + i. */
    bool declared;                     /* The scenario's promise (sim_scenario.declared). */
};

/* How far an enumeration has come. */
struct sim_space {
    uint64_t runs;      /* Begun so far. */
    uint64_t redundant; /* Of those, known to tell nothing new; 0: it does not look. */
    bool exhausted;     /* Nothing is left within its bounds. */
    bool cut;           /* Runs beyond its depth or its room were left out. */
    bool timed;       /* It counted on steps that take no time, and something went by the clock. */
    bool differs;     /* A run met other choices than the one before in the same place. */
    uint32_t bound;   /* Deviations of a run at most; UINT32_MAX: any number. */
    uint32_t whole;   /* All runs with at most so many are made; UINT32_MAX: not known. */
    uint32_t depth;   /* The most choices that a run had. */
    uint32_t covered; /* Share of the space, as far as its shape is known, in 2^-32; 0: unknown. */
    const char *why;  /* What the reader had better know of it, one clause; NULL: nothing. */
};

struct sim_strategy_kind {
    const char *name;
    const char *about;  /* One line, for people. */
    const char *source; /* The paper or the program that it comes from. */
    struct sim_strategy_param params[SIM_STRATEGY_PARAMS_MAX]; /* Ends with a NULL name. */
    bool adaptive;
    bool sequential;
    bool swarms;             /* Its runs draw options unless told otherwise (swarm=0). */
    size_t size;             /* Of its memory, … */
    size_t (*measure)(void); /* … where that is no constant; else NULL. */
    /* Makes one in `memory` (zeroed, aligned to 64, `size` bytes), at its beginning, for many runs.
     * Called again, in zeroed memory, when learned statistics or search change; for a sequential
     * one once in a sweep: its memory goes on. */
    struct sim_strategy *(*init)(void *memory, const struct sim_strategy_setting *setting);
    /* Sequential only, before `begin`: whether there is one more run. */
    bool (*more)(struct sim_strategy *strategy);
    /* Sequential only, between runs: how far it has come. */
    void (*space)(const struct sim_strategy *strategy, struct sim_space *ret);
    /* After `begin`: who draws this run, where it hands over to others; NULL: itself. The answer is
     * a place in the table. */
    uint32_t (*arm)(const struct sim_strategy *strategy);
    /* After the run with index `run` of the sweep: notes facts that its events do not show; NULL:
     * there are none. */
    void (*tell)(const struct sim_strategy *strategy, struct sim_facts *facts, uint64_t run);
};

/* Strategies in the table. */
uint32_t sim_strategy_count(void);

/* Number `index` of the table, below sim_strategy_count. */
const struct sim_strategy_kind *sim_strategy_at(uint32_t index);

/* Bytes of memory that the strategy at `index` needs. */
size_t sim_strategy_size(uint32_t index);

/* The place of the strategy called `name`; UINT32_MAX: there is none. */
uint32_t sim_strategy_find(const char *name);

/* The strategy at `index` with its default parameters. */
void sim_search_init(struct sim_search *search, uint32_t index);

/*
 * Reads "NAME" or "NAME:key=value,…". False: *ret_search is not touched and `error` says of `text`
 * what is wrong, and what there is: "is no strategy: there are …".
 */
bool sim_search_parse(
        const char *text, struct sim_search *ret_search, char error[SIM_STRATEGY_ERROR_MAX]);

/* "pct:d=4", with the parameters that differ from their defaults, in `text`. */
void sim_search_text(const struct sim_search *search, char *text, size_t size);

/* Parameter `name` of a strategy of `kind`, which has it. */
uint64_t sim_search_param(const struct sim_search *search, const char *name);

#ifdef __cplusplus
}
#endif
#endif
