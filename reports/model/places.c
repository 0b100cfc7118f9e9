/*
 * places.c -- source locations, from the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/model/places.h"

#include <stdlib.h>
#include <string.h>

#include "reports/base/ask.h"
#include "sim/base/heap.h"
#include "sim/core/record/site.h"

static const struct report_column columns[] = {
        REPORT_COLUMN(struct report_place, site),
        REPORT_COLUMN(struct report_place, line),
        REPORT_COLUMN(struct report_place, file),
        REPORT_COLUMN(struct report_place, function),
};

enum sim_store_err
report_places_load(struct sim_store *store, struct report_places *ret_places)
{
    uint32_t capacity = 0;
    *ret_places = (struct report_places){.count = 0};
    struct report_ask ask =
            report_ask(store, "SELECT site, line, file, function FROM sites ORDER BY site");
    while (report_row(&ask)) {
        sim_heap_grow(
                &ret_places->places, ret_places->count, &capacity, sizeof(*ret_places->places));
        report_row_read(
                &ask, columns, REPORT_COLUMNS(columns), &ret_places->places[ret_places->count++]);
    }
    return report_done(&ask);
}

void
report_places_free(struct report_places *places)
{
    for (uint32_t i = 0; i < places->count; i++) {
        report_row_free(columns, REPORT_COLUMNS(columns), &places->places[i]);
    }
    free(places->places);
    *places = (struct report_places){.count = 0};
}

const struct report_place *
report_places_find(const struct report_places *places, uint32_t site)
{
    uint32_t low = 0;
    uint32_t high = site != 0 ? places->count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (places->places[middle].site < site) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = site != 0 && low < places->count && places->places[low].site == site;
    return found ? &places->places[low] : NULL;
}

bool
report_site_is_rewakes(uint32_t site, const char *file)
{
    const struct rt_site *known = sim_site_find(site);
    return known != NULL && sim_site_is_own(known) && strcmp(known->file, file) == 0;
}

const char *
report_file_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}
