/*
 * registry.c -- collecting scenarios, and loading libraries of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/registry.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/memory/image.h"
#include "sim/core/memory/malloc.h"
#include "sim/core/process/output.h"
#include "sim/core/record/site.h"
#include "sim/engine/token.h"
#include "sim/engine/worker/descriptors.h"
#include "sim/engine/worker/exit_flush.h"
#include "sim/program/program.h"
#include "sim/thread/tcb.h"
#include "sim/thread/thread.h"

/* A library whose constructors take longer does not load. */
#define LOAD_SECONDS 10

__attribute__((format(printf, 2, 3))) static bool
refuse(struct sim_registry *registry, const char *format, ...)
{
    rt_assert(format != NULL);
    rt_assert(registry != NULL);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(registry->error, sizeof(registry->error), format, arguments);
    va_end(arguments);
    return false;
}

uint32_t
sim_scenario_params(const struct sim_scenario *scenario)
{
    rt_assert(scenario != NULL);
    uint32_t count = 0;
    while (scenario->params != NULL && scenario->params[count].name != NULL) {
        count++;
    }
    return count;
}

static bool
has_param_outside(const struct sim_scenario *scenario)
{
    for (uint32_t i = 0; i < sim_scenario_params(scenario); i++) {
        const struct sim_param *param = &scenario->params[i];
        if (param->value < param->min || param->value > param->max) {
            return true;
        }
    }
    return false;
}

/* NULL, or what is wrong with how it was declared. */
static const char *
misdeclared(const struct sim_scenario *scenario)
{
    rt_assert(scenario != NULL);
    const char *name = scenario->name != NULL ? scenario->name : "";
    const struct {
        bool wrong;
        const char *text;
    } rules[] = {
            {*name == '\0' || strlen(name) >= SIM_NAME_MAX,
                    "a scenario's name has 1 to 95 characters"},
            {strpbrk(name, ": \t\n*?[]\\\"'") != NULL,
                    "a scenario's name has no colon, blank, quote or glob character"},
            {scenario->setup == NULL && scenario->regression == NULL, "it has no setup function"},
            {scenario->about == NULL, "it does not say what it is about"},
            {scenario->expect >= SIM_VERDICTS || scenario->expect_also >= SIM_VERDICTS,
                    "it expects a verdict that is none"},
            {scenario->order > SIM_ORDER_LAST, "its order is none of enum sim_order"},
            {scenario->profile > SIM_PROFILE_FD, "its profile is none of enum sim_profile"},
            {(scenario->survives & ~SIM_FAULT_ALL) != 0,
                    "it claims to survive faults that there are not"},
            {(scenario->bug != NULL) != (scenario->reference != NULL),
                    "a real bug has both a number and a reference"},
            {!sim_option_valid(SIM_OPTION_slack_ns, scenario->slack_ns),
                    "its slack_ns is too large"},
            {!sim_option_valid(SIM_OPTION_fault_free_after, scenario->fault_free_after) ||
                            !sim_option_valid(
                                    SIM_OPTION_converge_steps, scenario->converge_steps) ||
                            !sim_option_valid(SIM_OPTION_converge_ns, scenario->converge_ns),
                    "its fault_free_after, converge_steps or converge_ns is too large"},
            {sim_scenario_params(scenario) > SIM_PARAMS_MAX, "it has more than 16 parameters"},
            {has_param_outside(scenario), "a parameter's default is outside its own range"},
    };
    const char *text = NULL;
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules) && text == NULL; i++) {
        text = rules[i].wrong ? rules[i].text : NULL;
    }
    return text;
}

/* Where `name` is, or would be put. */
static uint32_t
place_of(const struct sim_registry *registry, const char *name)
{
    rt_assert(name != NULL);
    rt_assert(registry->count <= registry->capacity);
    uint32_t low = 0;
    uint32_t high = registry->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(registry->entries[middle].scenario->name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    rt_assert(low <= registry->count);
    return low;
}

static bool
is_at(const struct sim_registry *registry, uint32_t place, const char *name)
{
    return place < registry->count && strcmp(registry->entries[place].scenario->name, name) == 0;
}

static void
insert(struct sim_registry *registry, uint32_t place, struct sim_entry entry)
{
    rt_assert(place <= registry->count);
    rt_assert(registry->count <= registry->capacity);
    rt_assert(entry.scenario != NULL);
    sim_heap_grow(
            &registry->entries, registry->count, &registry->capacity, sizeof(*registry->entries));
    memmove(&registry->entries[place + 1], &registry->entries[place],
            (registry->count - place) * sizeof(*registry->entries));
    registry->entries[place] = entry;
    rt_assert(place == 0 ||
              strcmp(registry->entries[place - 1].scenario->name, entry.scenario->name) < 0);
    registry->count++;
}

bool
sim_registry_add(struct sim_registry *registry, const struct sim_scenario *const *start,
        const struct sim_scenario *const *stop, const char *library)
{
    rt_assert(start <= stop);
    rt_assert(registry != NULL);
    const char *from = library != NULL ? library : "rewake itself";
    for (const struct sim_scenario *const *each = start; each != stop; each++) {
        const struct sim_scenario *scenario = *each;
        const char *wrong = misdeclared(scenario);
        if (wrong != NULL) {
            return refuse(registry, "%s: scenario '%s': %s", from,
                    scenario->name != NULL ? scenario->name : "", wrong);
        }
        uint32_t place = place_of(registry, scenario->name);
        if (is_at(registry, place, scenario->name)) {
            const char *other = registry->entries[place].library;
            return refuse(registry,
                    "%s: there are two scenarios called '%s' (the other one is in %s); rename one",
                    from, scenario->name, other != NULL ? other : "rewake itself");
        }
        insert(registry, place, (struct sim_entry){scenario, library, NULL});
    }
    return true;
}

/* ---- Regressions. ---------------------------------------------------------------------------- */

/* What `entry` repeats is made its own, under its name. */
static bool
make_regression(struct sim_registry *registry, struct sim_entry *entry)
{
    rt_assert(entry->made == NULL);
    rt_assert(entry->scenario->regression != NULL);
    const struct sim_scenario *own = entry->scenario;
    const struct sim_entry *like = sim_registry_find(registry, own->regression->scenario);
    if (like == NULL || like->scenario->regression != NULL) {
        return refuse(registry,
                "%s: '%s' repeats a run of '%s', which is not here: name what it is called now, "
                "or remove it",
                entry->library != NULL ? entry->library : "rewake itself", own->name,
                own->regression->scenario);
    }
    rt_assert(like != entry);
    struct sim_scenario *made = sim_heap_new(1, sizeof(*made));
    *made = *like->scenario;
    made->file = own->file;
    made->name = own->name;
    made->about = own->about;
    made->expect = own->expect;
    made->expect_also = own->expect_also;
    made->bug = NULL;
    made->reference = NULL;
    made->regression = own->regression;
    entry->scenario = made;
    entry->made = made;
    return true;
}

/* Of `library` (NULL: of the program), all of whose scenarios are there. */
static bool
make_regressions(struct sim_registry *registry, const char *library)
{
    for (uint32_t i = 0; i < registry->count; i++) {
        struct sim_entry *entry = &registry->entries[i];
        if (entry->scenario->regression != NULL && entry->made == NULL &&
                entry->library == library && !make_regression(registry, entry)) {
            return false;
        }
    }
    return true;
}

bool
sim_registry_init(struct sim_registry *registry)
{
    *registry = (struct sim_registry){.count = 0};
    sim_descriptors_keep();
    sim_sites_init();
    return sim_registry_add(registry, __start_rewake_scenarios, __stop_rewake_scenarios, NULL) &&
           make_regressions(registry, NULL);
}

/* What was made for the entries. */
static void
forget_made(struct sim_registry *registry)
{
    rt_assert(registry->count <= registry->capacity);
    for (uint32_t i = 0; i < registry->count; i++) {
        free(registry->entries[i].made);
    }
}

void
sim_registry_fini(struct sim_registry *registry)
{
    forget_made(registry);
    free(registry->entries);
    *registry = (struct sim_registry){.count = 0};
}

/* ---- Libraries. ------------------------------------------------------------------------------ */

/* In a child: `*returned` says that dlopen returned; an exit status may be the constructors'. */
static _Noreturn void
load_in_child(const struct sim_program_file *file, volatile bool *returned)
{
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)alarm(LOAD_SECONDS);
    (void)dlopen(file->name, RTLD_NOW | RTLD_LOCAL);
    *returned = true;
    _exit(0);
}

static bool
judge_load(struct sim_registry *registry, const char *path, int status, bool returned)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        return refuse(registry, "%s: the library's constructors have not returned after %d s", path,
                LOAD_SECONDS);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !returned) {
        return refuse(registry, "%s: the library %s while it was loaded: check its constructors",
                path, WIFSIGNALED(status) ? "crashed" : "called exit");
    }
    return true;
}

/* Loads it in a child; false when that did not end well. What dlopen itself refuses is said by the
 * parent, which will be refused too. */
static bool
try_load(struct sim_registry *registry, const struct sim_program_file *file)
{
    volatile bool *returned = mmap(
            NULL, sizeof(*returned), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (returned == MAP_FAILED) {
        return refuse(registry, "%s: no memory to try the library", file->path);
    }
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        load_in_child(file, returned);
    }
    int status = 0;
    bool tried = child > 0 && waitpid(child, &status, 0) == child;
    bool loads =
            tried ? judge_load(registry, file->path, status, *returned)
                  : refuse(registry, "%s: no process can be made to try the library", file->path);
    (void)munmap((void *)(uintptr_t)returned, sizeof(*returned));
    return loads;
}

/* ---- Programs. ------------------------------------------------------------------------------- */

/* The module `handle` is no library of scenarios. */
static bool
add_program(struct sim_registry *registry, const struct sim_program_file *file, void *handle)
{
    struct sim_program program;
    if (!sim_program_read(handle, file, &program)) {
        return refuse(registry,
                "%s: there is no scenario in this library, and no main(); make one with "
                "SIM_SCENARIO",
                file->path);
    }
    if (sim_program_loaded() != NULL) {
        return refuse(registry, "%s: there is another program already: one at a time", file->path);
    }
    if (!SIM_THREAD_PLAYS) {
        return refuse(registry,
                "%s: this rewake was built with a sanitizer, and cannot run programs", file->path);
    }
    if (!sim_program_claim_locals(&program)) {
        return refuse(registry,
                "%s: its thread-local variables take more than the %zu bytes that there are for "
                "those of a program",
                file->path, SIM_THREAD_RESERVE);
    }
    const struct sim_scenario *scenario = sim_program_make(&program);
    if (scenario == NULL) {
        return refuse(registry, "%s: its variables cannot be bound in this process", file->path);
    }
    return sim_registry_add(registry, &scenario, &scenario + 1, file->path);
}

/* ---- Loading. -------------------------------------------------------------------------------- */

/* False: it was built against another version. */
static bool
check_version(struct sim_registry *registry, const char *path, const struct sim_library *library)
{
    if (library->version == SIM_LIBRARY_VERSION &&
            library->scenario_size == sizeof(struct sim_scenario)) {
        return true;
    }
    return refuse(registry,
            "%s: the library was built against version %u of sim/core/scenario.h and this "
            "rewake "
            "has %u: build it again",
            path, library->version, SIM_LIBRARY_VERSION);
}

/* All of them, or none. */
static bool
add_scenarios(struct sim_registry *registry, const char *path, const struct sim_library *library)
{
    uint32_t count = registry->count;
    struct sim_entry *before = sim_heap_new(count, sizeof(*before));
    memcpy(before, registry->entries, count * sizeof(*before));
    bool added =
            sim_registry_add(registry, library->scenarios_start, library->scenarios_stop, path) &&
            make_regressions(registry, path);
    if (!added) {
        memcpy(registry->entries, before, count * sizeof(*before));
        registry->count = count;
    }
    free(before);
    return added;
}

static bool
add_library(struct sim_registry *registry, const char *path, void *handle,
        const struct sim_library *library)
{
    if (!check_version(registry, path, library)) {
        return false;
    }
    sim_exit_flush_library(handle);
    if (!add_scenarios(registry, path, library)) {
        return false;
    }
    sim_sites_add(library->sites_start, library->sites_stop);
    return true;
}

/* NULL: dlerror says why. */
static void *
open_file(const struct sim_program_file *file)
{
    sim_descriptors_before_load();
    sim_malloc_load_begin();
    if (file->program) {
        sim_output_of_program();
    }
    sim_program_load_begin();
    void *handle = dlopen(file->name, RTLD_NOW | RTLD_LOCAL);
    sim_program_load_end();
    bool imaged = sim_malloc_load_end() == RT_OK;
    sim_descriptors_after_load();
    return imaged ? handle : NULL;
}

static bool
load(struct sim_registry *registry, const struct sim_program_file *file)
{
    if (!try_load(registry, file)) {
        return false;
    }
    if (sim_images_before_load() != RT_OK) {
        return refuse(registry, "%s: there are too many modules in this process", file->path);
    }
    void *handle = open_file(file);
    if (handle == NULL) {
        return refuse(registry, "%s does not load: %s", file->path, dlerror());
    }
    const struct sim_library *library = dlsym(handle, "rewake_library");
    bool added = library != NULL ? add_library(registry, file->path, handle, library)
                                 : add_program(registry, file, handle);
    if (added && sim_images_take() != RT_OK) {
        return refuse(registry, "%s: it has too many segments of variables", file->path);
    }
    return added;
}

bool
sim_registry_load(struct sim_registry *registry, const char *path)
{
    struct sim_program_file file;
    const char *refusal = sim_program_prepare(path, &file);
    bool loaded =
            refusal == NULL ? load(registry, &file) : refuse(registry, "%s: %s", path, refusal);
    free(file.name);
    return loaded;
}

/* ---- Looking. -------------------------------------------------------------------------------- */

const struct sim_entry *
sim_registry_find(const struct sim_registry *registry, const char *name)
{
    rt_assert(name != NULL);
    uint32_t place = place_of(registry, name);
    return is_at(registry, place, name) ? &registry->entries[place] : NULL;
}
