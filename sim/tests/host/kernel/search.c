/*
 * search.c -- the path of a search.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/kernel/search.h"

#include "runtime/tests/test.h"

void
search_init(struct search *search)
{
    search->depth = 0;
    search->position = 0;
}

void
search_again(struct search *search)
{
    search->position = 0;
}

uint32_t
search_choose(struct search *search, uint32_t n)
{
    ck_assert(n >= 1 && n <= UINT8_MAX);
    ck_assert(search->position < SEARCH_DECISIONS_MAX);
    if (search->position == search->depth) {
        search->path[search->depth].index = 0;
        search->path[search->depth].n = (uint8_t)n;
        search->depth++;
    }
    return search->path[search->position++].index;
}

bool
search_turn(struct search *search)
{
    search->depth = search->position;
    while (search->depth > 0) {
        if (search->path[search->depth - 1].index + 1u < search->path[search->depth - 1].n) {
            search->path[search->depth - 1].index++;
            return true;
        }
        search->depth--;
    }
    return false;
}
