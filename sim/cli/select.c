/*
 * select.c -- matches patterns and scenarios.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/select.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/glob.h"
#include "sim/base/heap.h"

#define BROKEN "/broken"

size_t
sim_stem_length(const char *name)
{
    size_t length = strlen(name);
    size_t form = sizeof(BROKEN) - 1;
    bool has_form = length > form && strcmp(name + length - form, BROKEN) == 0;
    return has_form ? length - form : length;
}

/* Of the pattern that matches nothing. */
static int
refuse(const char *pattern)
{
    return sim_cli_fail(SIM_EXIT_USAGE,
            "no scenario matches %s, only the other patterns do: correct it, or leave it out",
            pattern);
}

int
sim_select_check(const struct sim_cli *cli, char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < cli->count; i++) {
        bool matches = false;
        for (uint32_t j = 0; j < count && !matches; j++) {
            matches = sim_glob_matches(names[j], &cli->arguments[i], 1);
        }
        if (!matches) {
            return refuse(cli->arguments[i]);
        }
    }
    return 0;
}

static bool
matches(const struct sim_scenario *scenario, bool by_stem, char *const *patterns, uint32_t count)
{
    bool found = sim_glob_matches(scenario->name, patterns, count);
    if (!found && by_stem) {
        char *stem = sim_heap_must(strndup(scenario->name, sim_stem_length(scenario->name)));
        found = sim_glob_matches(stem, patterns, count);
        free(stem);
    }
    return found;
}

int
sim_select(const struct sim_cli *cli, bool (*is_wanted)(const struct sim_scenario *scenario),
        struct sim_selection *ret_selection)
{
    const struct sim_registry *registry = &cli->registry;
    struct sim_selection *all = ret_selection;
    *all = (struct sim_selection){sim_heap_new(registry->count, sizeof(*all->entries)), 0};
    for (uint32_t i = 0; i < registry->count; i++) {
        const struct sim_entry *entry = &registry->entries[i];
        bool wanted = (cli->library == NULL || entry->library != NULL) &&
                      (is_wanted == NULL || is_wanted(entry->scenario));
        if (wanted && matches(entry->scenario, is_wanted != NULL, cli->arguments, cli->count)) {
            all->entries[all->count++] = entry;
        }
    }
    if (all->count == 0) {
        return sim_cli_fail(SIM_EXIT_NOTHING, "no scenario%s matches%s%s (rewake list has all)",
                is_wanted != NULL ? " that must fail" : "", cli->count > 0 ? " " : "",
                cli->count > 0 ? cli->arguments[0] : "");
    }
    for (uint32_t i = 0; i < cli->count; i++) {
        bool found = false;
        for (uint32_t j = 0; j < all->count && !found; j++) {
            found = matches(all->entries[j]->scenario, is_wanted != NULL, &cli->arguments[i], 1);
        }
        if (!found) {
            return refuse(cli->arguments[i]);
        }
    }
    return 0;
}

void
sim_select_done(struct sim_selection *selection)
{
    free(selection->entries);
    *selection = (struct sim_selection){NULL, 0};
}
