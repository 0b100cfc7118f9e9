/*
 * places.h -- source locations, from the database.
 *
 * Not from this program: a database may come from another build, with other lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>

#include "sim/store/read.h"

struct report_place {
    uint32_t site;
    uint32_t line;
    char *file; /* As the compiler got it: "scenarios/zoo/tokio-4497.c" */
    char *function;
};

struct report_places {
    struct report_place *places; /* In order of their sites. */
    uint32_t count;
};

/* Reads all of them. report_places_free may follow in any case. */
RT_MUST_CHECK enum sim_store_err report_places_load(
        struct sim_store *store, struct report_places *ret_places);
void report_places_free(struct report_places *places);

/* The place of `site`; NULL: there is none, or the database does not know it. */
const struct report_place *report_places_find(const struct report_places *places, uint32_t site);

/* Whether `site`, in `file` of the database, is a line of rewake and not of the user. */
bool report_site_is_rewakes(uint32_t site, const char *file);

/* The last component of `file`. */
const char *report_file_name(const char *file);
