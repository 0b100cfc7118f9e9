/*
 * nearest.c -- the distance of two words: Damerau's, with exchanged neighbours as one change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/nearest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static uint32_t
least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Of the words `a` and `b`, none longer than SIM_NEAREST_MAX. */
static uint32_t
distance(const char *a, size_t of_a, const char *b, size_t of_b)
{
    /* rows[i % 3][j]: of the first i letters of `a` from the first j of `b`. */
    uint32_t rows[3][SIM_NEAREST_MAX + 1] = {{0}};
    for (uint32_t j = 0; j <= of_b; j++) {
        rows[0][j] = j;
    }
    for (uint32_t i = 1; i <= of_a; i++) {
        uint32_t *row = rows[i % 3];
        const uint32_t *before = rows[(i + 2) % 3];
        row[0] = i;
        for (uint32_t j = 1; j <= of_b; j++) {
            bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            row[j] =
                    least(least(before[j], row[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            row[j] = exchanged ? least(row[j], rows[(i + 1) % 3][j - 2] + 1) : row[j];
        }
    }
    return rows[of_a % 3][of_b];
}

void
sim_nearest_try(struct sim_nearest *nearest, const char *name, const char *part)
{
    size_t typed = strlen(nearest->word);
    size_t length = strlen(part);
    if (typed == 0 || typed > SIM_NEAREST_MAX || length > SIM_NEAREST_MAX) {
        return;
    }
    uint32_t apart = distance(nearest->word, typed, part, length);
    bool near = apart <= (typed + 2) / 3;
    if (near && (nearest->name == NULL || apart < nearest->distance)) {
        nearest->name = name;
        nearest->distance = apart;
    }
}

const char *
sim_nearest_hint(const struct sim_nearest *nearest, char hint[SIM_NEAREST_HINT_MAX])
{
    hint[0] = '\0';
    if (nearest->name != NULL) {
        (void)snprintf(hint, SIM_NEAREST_HINT_MAX, ": did you mean '%.120s'?", nearest->name);
    }
    return hint;
}
