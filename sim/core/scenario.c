/*
 * scenario.c -- what a scenario may call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/scenario.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/memory/arena.h"
#include "sim/core/world.h"
#include "sim/core/world_priv.h"

/* A line of sim_log is cut here. */
#define LOG_MAX 200

static void *
take(struct sim_world *world, size_t size, bool zero)
{
    void *memory = sim_block_take(&world->arena, size, zero);
    if (memory == NULL) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_LIMIT, world->current, 0,
                "the run wants more memory than its arena has (%zu MiB)", world->arena.size >> 20);
    }
    return memory;
}

void *
sim_alloc(struct sim_world *world, size_t size)
{
    return take(world, size, false);
}

void *
sim_zalloc(struct sim_world *world, size_t size)
{
    return take(world, size, true);
}

void
sim_set_state(struct sim_world *world, void *state)
{
    world->state = state;
}

int64_t
sim_param(struct sim_world *world, const char *name)
{
    const struct sim_param *params = world->scenario->params;
    for (uint32_t i = 0; params != NULL && params[i].name != NULL; i++) {
        if (strcmp(params[i].name, name) == 0) {
            return world->options.params[i];
        }
    }
    sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_USER, NULL, 0,
            "the scenario asks for a parameter '%s' that it does not declare", name);
}

/*
 * ---- A step that spins on the clock. -----------------------------------------------------------
 *
 * While a step runs no other actor does, and the clock stands still: a loop that reads it until
 * some time would never end. The first SIM_CLOCK_CALLS calls of a step cost nothing. After that
 * each call costs one ns more than the call before: a wait of a millisecond takes 1,400 further
 * calls, one of an hour 2.7 million, and an endless wait reaches the time limit. The counter of
 * steps moves meanwhile, so that such a step is not taken for a hang.
 */

/* This many calls take about as long as a step. */
#define CALLS_A_STEP 16u

static void
clock_spins(struct sim_world *world)
{
    if (world->mock_time) {
        return;
    }
    if (world->clock_calls % CALLS_A_STEP == 0) {
        sim_world_spend(world, 1);
    }
    rt_assert(world->clock_calls > SIM_CLOCK_CALLS);
    world->work_ns += world->clock_calls - SIM_CLOCK_CALLS;
    if (world->now_ns + world->work_ns > world->options.time_ns_max) {
        sim_fail(world, SIM_VERDICT_TIME_LIMIT, SIM_ORACLE_LIMIT, world->current, 0,
                "one step has called sim_now or sim_work %llu times, and has not returned after "
                "%llu ms of virtual time",
                (unsigned long long)world->clock_calls,
                (unsigned long long)(world->options.time_ns_max / 1000000));
    }
}

static inline void
count_clock_call(struct sim_world *world)
{
    if (++world->clock_calls > SIM_CLOCK_CALLS) {
        clock_spins(world);
    }
}

uint64_t
sim_now(struct sim_world *world)
{
    count_clock_call(world);
    return world->now_ns + world->work_ns;
}

void
sim_work(struct sim_world *world, uint64_t ns)
{
    world->work_ns += ns;
    count_clock_call(world);
}

/* ---- Decisions. ------------------------------------------------------------------------------ */

uint32_t
sim_pick(struct sim_world *world, uint32_t n)
{
    if (n < 1 || n > SIM_ALTERNATIVES_MAX) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_USER, world->current, 0,
                "sim_pick(%u): a decision has 1 to %u alternatives", n, SIM_ALTERNATIVES_MAX);
    }
    struct sim_actor *actor = world->current;
    uint32_t ordinal = actor->streams[SIM_KIND_USER].ordinal;
    uint32_t index = sim_actor_choose(actor, SIM_KIND_USER, n, SIM_ODDS_EVEN);
    sim__drawn(actor, SIM_KIND_USER, SIM_DRAW_PICK, ordinal, 0, n - 1, index);
    return index;
}

bool
sim_inject(struct sim_world *world, uint32_t one_in)
{
    return sim__perturb(world->current, SIM_KIND_USER, 2, one_in) != 0;
}

uint64_t
sim_range(struct sim_world *world, uint64_t lo, uint64_t hi)
{
    if (lo > hi) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_USER, world->current, 0,
                "sim_range: the lower end lies above the upper one");
    }
    return sim_actor_range(world->current, SIM_KIND_USER, lo, hi);
}

/* ---- Logs, assertions, goals. ---------------------------------------------------------------- */

static uint32_t
site_id(const struct rt_site *site)
{
    return site != NULL ? site->id : 0;
}

void
sim_log_at(struct sim_world *world, const struct rt_site *site, const char *format, ...)
{
    if (world->recorder.texts_on) {
        char text[LOG_MAX];
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(text, sizeof(text), format, arguments);
        va_end(arguments);
        sim_record_text(
                &world->recorder, SIM_TEXT_EVENT, world->recorder.count, text, strlen(text));
    }
    sim_world_event(world, SIM_EVENT_LOG, 0, site_id(site), 0, 0);
}

void
sim_progress_at(const struct rt_site *site)
{
    struct sim_world *world = sim_world_current;
    rt_assert(world != NULL);
    world->consumed++;
    sim__gain(world, SIM_GAIN_PROGRESS, site_id(site));
    sim_world_progress(world);
    sim_world_event(world, SIM_EVENT_PROGRESS, 0, site_id(site), 0, 0);
}

const char *
sim_mark_name(uint32_t mark)
{
    static const char *const names[] = {"", "sometimes", "reachable", "always"};
    return mark < sizeof(names) / sizeof(*names) ? names[mark] : "";
}

/* Notes that the site was reached; sites beyond SIM_CHECKED_MAX are not noted. */
static inline void
note_place(uint32_t places[SIM_CHECKED_MAX], uint32_t id)
{
    for (uint32_t i = 0; i < SIM_CHECKED_MAX && id != 0; i++) {
        uint32_t *place = &places[(id + i) & (SIM_CHECKED_MAX - 1)];
        if (*place == 0) {
            *place = id;
        }
        if (*place == id) {
            return;
        }
    }
}

void
sim_always_at(bool condition, const char *text, const struct rt_site *site)
{
    struct sim_world *world = sim_world_current;
    rt_assert(world != NULL);
    world->noted = true;
    note_place(world->checked, site_id(site));
    if (!condition) {
        sim_fail(world, SIM_VERDICT_INVARIANT, SIM_ORACLE_USER, world->current, site_id(site),
                "SIM_ALWAYS(%s) does not hold", text);
    }
}

void
sim_sometimes_at(bool condition, const char *text, const struct rt_site *site)
{
    struct sim_world *world = sim_world_current;
    rt_assert(world != NULL);
    (void)text;
    if (condition) {
        sim_world_event(world, SIM_EVENT_GOAL, 0, site_id(site), 0, 0);
    } else {
        world->noted = true;
        note_place(world->asked, site_id(site));
    }
}

/* ---- Audits of the scenario's primitives. ---------------------------------------------------- */

struct added_audit {
    struct sim_binding binding;
    const char *(*audit)(void *argument);
    void *argument;
};

static const char *
call_added(void *argument)
{
    const struct added_audit *added = argument;
    return added->audit(added->argument);
}

void
sim_audit_add(struct sim_world *world, const char *name, const char *(*audit)(void *argument),
        void *argument)
{
    static const struct sim_binding_ops ops = {.audit = call_added};
    struct added_audit *added = sim_new(world, struct added_audit);
    added->audit = audit;
    added->argument = argument;
    sim_world_bind(world, &added->binding, &ops, added, name);
}
