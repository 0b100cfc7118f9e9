/*
 * waste.c -- what the runs of a sweep did for nothing: stored, and held to a limit (--max-waste).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/cover/waste.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/heap.h"
#include "sim/base/terminal.h"
#include "sim/cli/run/state.h"
#include "sim/core/record/site.h"
#include "sim/store/coverage.h"

#define PRINTED_MAX 8u

uint64_t
sim_run_waste(const struct sim_run *run)
{
    const struct sim_facts *facts = sim_run_covered(run);
    uint64_t times = 0;
    for (uint32_t i = 0; i < facts->count; i++) {
        times += facts->entries[i].kind == SIM_FACT_WASTE ? facts->entries[i].sum : 0;
    }
    return times;
}

void
sim_run_waste_store(struct sim_run *run)
{
    const struct sim_facts *facts = sim_run_covered(run);
    struct sim_waste_row *rows = sim_heap_new((size_t)facts->count + 1, sizeof(*rows));
    uint32_t count = 0;
    for (uint32_t i = 0; i < facts->count; i++) {
        const struct sim_fact *fact = &facts->entries[i];
        if (fact->kind == SIM_FACT_WASTE) {
            rows[count++] = (struct sim_waste_row){sim_waste_name(fact->b), (uint32_t)fact->a,
                    fact->first, fact->runs, fact->sum, fact->most};
        }
    }
    (void)sim_store_waste(run->store, run->sweep, rows, count);
    free(rows);
}

/* In one run, at one place. */
static bool
is_too_much(const struct sim_run *run, const struct sim_fact *fact)
{
    return fact->kind == SIM_FACT_WASTE && fact->most > run->cli->settings.max_waste;
}

bool
sim_run_wastes(const struct sim_run *run)
{
    const struct sim_facts *facts = sim_run_covered(run);
    bool limited = sim_given(&run->cli->settings, SIM_CLI_OPTION_MAX_WASTE);
    for (uint32_t i = 0; limited && i < facts->count; i++) {
        if (is_too_much(run, &facts->entries[i])) {
            return true;
        }
    }
    return false;
}

static void
print(const struct sim_run *run, const struct sim_fact *fact)
{
    const struct rt_site *site = sim_site_find((uint32_t)fact->a);
    char *place = site == NULL ? sim_heap_text("at an unknown place")
                               : sim_heap_printf("at %s:%u in %s()", sim_site_file(site),
                                         site->line, site->function);
    char *text = sim_heap_printf(
            "waste: %llu %s in one run %s (limit: %llu), first in seed %llu; %llu in all",
            (unsigned long long)fact->most, sim_waste_noun(fact->b, fact->most), place,
            (unsigned long long)run->cli->settings.max_waste,
            (unsigned long long)(run->plan.spec.seed + fact->first), (unsigned long long)fact->sum);
    (void)printf("  ");
    sim_print_folded(text, 2, 2);
    free(text);
    free(place);
}

void
sim_run_print_waste(const struct sim_run *run)
{
    const struct sim_facts *facts = sim_run_covered(run);
    uint32_t printed = 0;
    bool wastes = sim_run_wastes(run);
    for (uint32_t i = 0; wastes && i < facts->count && printed < PRINTED_MAX; i++) {
        if (is_too_much(run, &facts->entries[i])) {
            print(run, &facts->entries[i]);
            printed++;
        }
    }
}
