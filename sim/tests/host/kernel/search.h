/*
 * search.h -- a search, depth first, over decisions that a run asks for.
 *
 *      do { search_again(&search); run, which asks search_choose … } while (no && search_turn());
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SEARCH_DECISIONS_MAX 65536u

struct search {
    struct {
        uint8_t index;
        uint8_t n;
    } path[SEARCH_DECISIONS_MAX];
    uint32_t depth;    /* Decisions on the path. */
    uint32_t position; /* Of the next one. */
};

/* No decision is known; the next run takes the first alternative everywhere. */
void search_init(struct search *search);

/* A run begins: it is given the path's decisions, and then first alternatives. */
void search_again(struct search *search);

/* The next decision, of `n` alternatives (1 to 255). */
uint32_t search_choose(struct search *search, uint32_t n);

/* The last decision of the run that has another alternative takes it; false: there is none. */
bool search_turn(struct search *search);
