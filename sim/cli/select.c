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
#include "sim/base/nearest.h"

#define BROKEN "/broken"

size_t
sim_stem_length(const char *name)
{
    size_t length = strlen(name);
    size_t form = sizeof(BROKEN) - 1;
    bool has_form = length > form && strcmp(name + length - form, BROKEN) == 0;
    return has_form ? length - form : length;
}

/* The program that a word without a slash is, in this folder or (`anywhere`) as a shell finds it:
 * its path, from malloc. NULL: none. */
static char *
program_of(const char *word, bool anywhere)
{
    const char *list = getenv("PATH");
    char *path = sim_heap_printf("./%s", word);
    if (*word == '\0' || strpbrk(word, "/*?[") != NULL) {
        list = NULL;
    } else if (sim_cli_can_execute(path)) {
        return path;
    }
    while (anywhere && list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":");
        free(path);
        path = sim_heap_printf("%.*s/%s", (int)length, list, word);
        if (sim_cli_can_execute(path)) {
            return path;
        }
        list += length + (list[length] == ':');
    }
    free(path);
    return NULL;
}

static int
refuse_program(const char *word, char *path)
{
    int status = sim_cli_fail(SIM_EXIT_NOTHING,
            "%s is a program: name it by its path, %s (a word without a slash is a pattern of "
            "scenarios)",
            word, path);
    free(path);
    return status;
}

/* Of the pattern that matches nothing. */
static int
refuse(const char *pattern)
{
    char *program = program_of(pattern, true);
    if (program != NULL) {
        return refuse_program(pattern, program);
    }
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

/* What the patterns are held against: the scenarios of the command, by name, or by stem as well. */
struct choice {
    const struct sim_cli *cli;
    bool (*is_wanted)(const struct sim_scenario *scenario);
};

static bool
is_offered(const struct choice *choice, const struct sim_entry *entry)
{
    return (choice->cli->library == NULL || entry->library != NULL) &&
           (choice->is_wanted == NULL || choice->is_wanted(entry->scenario));
}

static bool
matches(const struct choice *choice, const struct sim_entry *entry, char *const *patterns,
        uint32_t count)
{
    const char *name = entry->scenario->name;
    bool found = sim_glob_matches(name, patterns, count);
    if (!found && choice->is_wanted != NULL) {
        char *stem = sim_heap_must(strndup(name, sim_stem_length(name)));
        found = sim_glob_matches(stem, patterns, count);
        free(stem);
    }
    return found;
}

static bool
matches_any(const struct choice *choice, char *pattern)
{
    const struct sim_registry *registry = &choice->cli->registry;
    for (uint32_t i = 0; i < registry->count; i++) {
        const struct sim_entry *entry = &registry->entries[i];
        if (is_offered(choice, entry) && matches(choice, entry, &pattern, 1)) {
            return true;
        }
    }
    return false;
}

/* A pattern that matches no whole name is one over parts of names. From malloc. */
static char **
take_patterns(const struct choice *choice)
{
    const struct sim_cli *cli = choice->cli;
    char **patterns = sim_heap_new((size_t)cli->count + 1, sizeof(*patterns));
    for (uint32_t i = 0; i < cli->count; i++) {
        bool whole = matches_any(choice, cli->arguments[i]);
        patterns[i] = sim_heap_printf(whole ? "%s" : "*%s*", cli->arguments[i]);
    }
    return patterns;
}

/* The scenario, or its last parts: "tokio-4479/broken" is near to one of the zoo. */
static void
try_name(struct sim_nearest *nearest, const char *name)
{
    for (const char *part = name; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        sim_nearest_try(nearest, name, part);
    }
}

static int
refuse_all(const struct choice *choice)
{
    const struct sim_cli *cli = choice->cli;
    const char *pattern = cli->count > 0 ? cli->arguments[0] : "";
    struct sim_nearest nearest = {.word = pattern};
    char hint[SIM_NEAREST_HINT_MAX];
    char *program = program_of(pattern, true);
    if (program != NULL) {
        return refuse_program(pattern, program);
    }
    for (uint32_t i = 0; i < cli->registry.count; i++) {
        if (is_offered(choice, &cli->registry.entries[i])) {
            try_name(&nearest, cli->registry.entries[i].scenario->name);
        }
    }
    return sim_cli_fail(SIM_EXIT_NOTHING, "no scenario%s matches%s%s%s (rewake list has all)",
            choice->is_wanted != NULL ? " that must fail" : "", *pattern != '\0' ? " " : "",
            pattern, sim_nearest_hint(&nearest, hint));
}

/* Each pattern matches one of those that were selected. 0, or the exit status after a line. */
static int
check_patterns(const struct choice *choice, char **patterns, const struct sim_selection *all)
{
    if (all->count == 0) {
        return refuse_all(choice);
    }
    for (uint32_t i = 0; i < choice->cli->count; i++) {
        bool found = false;
        for (uint32_t j = 0; j < all->count && !found; j++) {
            found = matches(choice, all->entries[j], &patterns[i], 1);
        }
        if (!found) {
            return refuse(choice->cli->arguments[i]);
        }
    }
    return 0;
}

int
sim_select(const struct sim_cli *cli, bool (*is_wanted)(const struct sim_scenario *scenario),
        struct sim_selection *ret_selection)
{
    const struct choice choice = {cli, is_wanted};
    const struct sim_registry *registry = &cli->registry;
    bool parts = cli->count > 0 && !matches_any(&choice, cli->arguments[0]);
    char *program = parts ? program_of(cli->arguments[0], false) : NULL;
    *ret_selection = (struct sim_selection){NULL, 0};
    if (program != NULL) {
        return refuse_program(cli->arguments[0], program);
    }
    char **patterns = take_patterns(&choice);
    struct sim_selection *all = ret_selection;
    *all = (struct sim_selection){sim_heap_new(registry->count, sizeof(*all->entries)), 0};
    for (uint32_t i = 0; i < registry->count; i++) {
        const struct sim_entry *entry = &registry->entries[i];
        if (is_offered(&choice, entry) && matches(&choice, entry, patterns, cli->count)) {
            all->entries[all->count++] = entry;
        }
    }
    int status = check_patterns(&choice, patterns, all);
    for (uint32_t i = 0; i < cli->count; i++) {
        free(patterns[i]);
    }
    free(patterns);
    return status;
}

void
sim_select_done(struct sim_selection *selection)
{
    free(selection->entries);
    *selection = (struct sim_selection){NULL, 0};
}
