/*
 * turns.h -- a run as slices of time, for trace viewers.
 *
 * A lane is an actor: its index into run->actors. A turn is one step, in the words of `rewake
 * show`. It begins at the virtual time of the step and ends where the next one begins; if all
 * actors waited before the next one, it takes as long as the shortest step of the run. A step
 * without a cost ends where it begins.
 *
 * A wake joins two turns: the one that sent it and the poll that it caused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "reports/model/run.h"

struct report_turn {
    const struct report_step *step;
    uint64_t end_ns;
    bool poll;                        /* Of a task. */
    const char *kind;                 /* "poll", else of its first event with words; static. */
    const char *words;                /* Never NULL. */
    const struct report_place *place; /* The last user line; NULL: none. */
    uint32_t wakes_first;             /* It sends run->wakes[wakes_first …], … */
    uint32_t wakes_count;             /* … wakes_count of them. */
    uint32_t woken_by; /* The index of the wake that caused it; UINT32_MAX: none known. */
};

struct report_turns {
    const struct report_run *run;
    struct sim_page words;
    uint64_t cost_ns;
    uint32_t *woken_by; /* By index into run->steps. */
    uint32_t wake;      /* The first wake of later turns. */
    uint32_t next;
};

/* Begins; `run` is borrowed. */
void report_turns_init(struct report_turns *turns, const struct report_run *run);
void report_turns_fini(struct report_turns *turns);

/* The next turn, in order; false: there is none. *ret_turn is valid until the next call. */
bool report_turns_next(struct report_turns *turns, struct report_turn *ret_turn);

/* The lane and the time of the failure. False: it passed. */
bool report_turns_failure(const struct report_run *run, uint32_t *ret_lane, uint64_t *ret_time_ns);

/* The missing wake of a lost or late wake-up. */
struct report_missing {
    uint32_t sender; /* The actor of the step that should have sent it. */
    uint32_t waiter;
    uint64_t step;
    uint64_t time_ns;
    bool dropped;      /* It was sent, but no poll followed. */
    const char *words; /* "here it should have been woken", static. */
};

/* False: none is missing; *ret_missing is left as it is. */
bool report_turns_missing(const struct report_run *run, struct report_missing *ret_missing);
