/*
 * walk.h -- taking a piece of a run one instruction at a time.
 *
 * Before each instruction (translate.h) it is seen whether a watched word has changed, and the
 * stack of calls is noted when it has. No debugger, no second process, no other build of the
 * program. On other processors than x86-64 nothing is walked, and less is reported.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SIM_WALK_FRAMES 20u

/* Where an instruction stood: its address, and the addresses of return above it. */
struct sim_walk_stop {
    uintptr_t frames[SIM_WALK_FRAMES];
    uint32_t frame_count; /* 0: nowhere. */
};

#define SIM_PATH_SLOTS 8192u
#define SIM_PATH_CALLS 24u

/* An instruction that was executed, and when: first and last, as the n-th of the walk. */
struct sim_path_slot {
    uintptr_t pc; /* 0: free. */
    uint32_t first;
    uint32_t last;
};

/* All instructions of a walk; what does not fit is left out. Zeroed before. */
struct sim_path {
    struct sim_path_slot slots[SIM_PATH_SLOTS]; /* A hash table by pc. */
    uint32_t used;
    uint32_t walked;
    struct sim_walk_stop blocked; /* Where a loop gave its stack up last: it sleeps there. */
    const uintptr_t *marks;       /* Functions whose calls are noted; borrowed. */
    uint32_t mark_count;
    uint32_t call_count; /* Those that do not fit are left out. */
    struct sim_walk_stop calls[SIM_PATH_CALLS];
};

/* A word that is watched. */
struct sim_watch {
    const volatile uint64_t *word;
    uint64_t mask; /* The bits that are meant; 0: all. */
    uint64_t seen;
    bool first;                    /* Of several changes the first is meant, else the last. */
    struct sim_walk_stop *writer;  /* Of that change; borrowed. Without frames before. */
    struct sim_walk_stop *earlier; /* … and of the one before that; borrowed; NULL: not wanted. */
    uint64_t value;                /* With `earlier`: the word between these two. */
};

/* Notes the stack of the caller: return addresses. */
void sim_walk_stop_here(struct sim_walk_stop *ret);

/*
 * Walks from here to sim_walk_end, at most `most` instructions, looking after `count` words
 * (borrowed) and noting the `path` (borrowed; NULL: not noted). Not on every machine: false, and
 * nothing is walked. One walk at a time.
 */
bool sim_walk_begin(
        struct sim_watch *watches, uint32_t count, struct sim_path *path, uint64_t most);
void sim_walk_end(void);
