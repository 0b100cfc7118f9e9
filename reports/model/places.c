/*
 * places.c -- source locations, from the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/model/places.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "reports/base/ask.h"
#include "sim/core/record/site.h"

static bool
add(struct report_places *places, uint32_t *capacity, struct report_ask *ask)
{
    if (places->count == *capacity) {
        uint32_t grown = *capacity != 0 ? *capacity * 2 : 512;
        struct report_place *more = reallocarray(places->places, grown, sizeof(*more));
        if (more == NULL) {
            return false;
        }
        places->places = more;
        *capacity = grown;
    }
    struct report_place place = {
            .site = (uint32_t)report_int(ask, 0),
            .line = (uint32_t)report_int(ask, 1),
            .file = strdup(report_text(ask, 2)),
            .function = strdup(report_text(ask, 3)),
    };
    places->places[places->count++] = place;
    return place.file != NULL && place.function != NULL;
}

enum sim_store_err
report_places_load(struct sim_store *store, struct report_places *ret_places)
{
    uint32_t capacity = 0;
    bool memory = true;
    *ret_places = (struct report_places){.count = 0};
    struct report_ask ask =
            report_ask(store, "SELECT site, line, file, function FROM sites ORDER BY site");
    while (memory && report_row(&ask)) {
        memory = add(ret_places, &capacity, &ask);
    }
    enum sim_store_err err = report_done(&ask);
    return err == SIM_STORE_OK && !memory ? sim_store_refused(store, SQLITE_NOMEM) : err;
}

void
report_places_free(struct report_places *places)
{
    for (uint32_t i = 0; i < places->count; i++) {
        free(places->places[i].file);
        free(places->places[i].function);
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
