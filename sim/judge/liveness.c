/*
 * liveness.c -- which task is still busy although no fault is injected any more?
 *
 * A run that takes long after it became free of faults may have much to do, or a long timer to wait
 * for. It fails where neither can be:
 *
 *   1. A task is busy: it was polled a number of times since then.
 *   2. No task that is waited for is blocked since the first half of that time with a timer armed.
 *   3. The control, the same run without faults from its first step on, passes, and
 *      in a quarter of the steps and of the time that this one had in order.
 *
 * Where a scenario declares how fast its program converges (`converge_steps`, `converge_ns`), none
 * of this is asked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/judge/liveness.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "runtime/base/probe.h"
#include "sim/core/scenario.h"
#include "sim/judge/control.h"

/* So much longer than the control a run must have continued. A control that meets the least latency
 * where this run met the longest, or moves all bytes at once, is quicker for that alone. */
#define TIMES 4u
/* Of the tape, so that it does not matter what its capacity was. */
#define CONTROL_DEVIATIONS 8192u
#define WAITS_MAX 16u
#define BUSY_POLLS 16u

/* ---- Which task is busy, and which is blocked. ----------------------------------------------- */

/* As the run was at its end. Names are copied: the replay is dropped. */
struct witness {
    bool excused; /* By 2. */
    uint64_t polls;
    uint32_t actor; /* The busiest; UINT32_MAX: none. */
    uint32_t object;
    char name[sizeof(((struct sim_outcome *)0)->actor_name)];
    char reason[64];
};

static bool
waits_for_time(const struct sim_actor *actor)
{
    rt_assert(actor->index > 0);
    struct sim_waiting waits[WAITS_MAX];
    if (actor->due_ns != SIM_NEVER) {
        return true;
    }
    uint32_t count = actor->ops->waiting != NULL ? actor->ops->waiting(actor, waits, WAITS_MAX) : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (SIM_OBJECT_KIND(waits[i].object) == RT_OBJECT_TIMER) {
            return true;
        }
    }
    return false;
}

static void
describe(const struct sim_actor *actor, struct witness *witness)
{
    rt_assert(actor->index > 0);
    rt_assert(witness->actor == UINT32_MAX);
    struct sim_waiting waits[WAITS_MAX];
    uint32_t count = actor->ops->waiting != NULL ? actor->ops->waiting(actor, waits, WAITS_MAX) : 0;
    const char *reason = count > 0 ? waits[0].reason : NULL;
    witness->actor = actor->index;
    witness->object = count > 0 ? waits[0].object : 0;
    (void)snprintf(witness->name, sizeof(witness->name), "%s", actor->name);
    (void)snprintf(witness->reason, sizeof(witness->reason), "%s", reason != NULL ? reason : "");
}

/* Actors that are waited for before others: they are why the run is not over. */
static const struct sim_actor *
busier(const struct sim_actor *a, const struct sim_actor *b)
{
    rt_assert(b != NULL);
    if (a == NULL || (b->foreground && !a->foreground)) {
        return b;
    }
    if (a->foreground && !b->foreground) {
        return a;
    }
    return b->polls - b->polls_fault_free > a->polls - a->polls_fault_free ? b : a;
}

static void
look(const struct sim_world *world, uint64_t half, struct witness *ret)
{
    rt_assert(half <= world->step);
    const struct sim_actor *busiest = NULL;
    for (uint32_t i = 1; i < world->actor_count; i++) {
        const struct sim_actor *actor = world->actors[i];
        bool acts = actor->ops->kind == SIM_ACTOR_TASK || actor->ops->kind == SIM_ACTOR_LOOP;
        if (actor->done || !acts) {
            continue;
        }
        if (actor->foreground && !actor->enabled && actor->stopped_step < half &&
                waits_for_time(actor)) {
            ret->excused = true;
        }
        if (actor->polls > actor->polls_fault_free) {
            busiest = busier(busiest, actor);
        }
    }
    if (busiest != NULL) {
        ret->polls = busiest->polls - busiest->polls_fault_free;
        describe(busiest, ret);
    }
}

static bool
find_witness(struct sim_world *world, const struct sim_case *what, const struct sim_health *health,
        const struct sim_outcome *outcome, struct witness *ret)
{
    rt_assert(health->fault_free);
    rt_assert(health->step <= outcome->fail_step);
    const struct sim_recording nothing = {false, false};
    const struct sim_stop stop = {outcome->fail_step, false};
    *ret = (struct witness){.actor = UINT32_MAX};
    bool reached = sim_world_run_to(
            world, what->scenario, &what->options, what->seed, what->strategy, nothing, stop);
    if (reached) {
        look(world, health->step + (outcome->fail_step - health->step) / 2, ret);
    }
    sim_world_drop(world);
    return reached;
}

/* ---- The control. ---------------------------------------------------------------------------- */

static bool
is_disturbance(uint32_t kind)
{
    return kind == SIM_KIND_FAULT || kind == SIM_KIND_SPURIOUS || kind == SIM_KIND_LATE ||
           kind == SIM_KIND_SLOW || kind == SIM_KIND_AUDIT;
}

/* Free of faults from its first step on, with so much less shared. */
static struct sim_options
control_options(const struct sim_case *what, uint64_t steps, uint64_t ns)
{
    struct sim_options options = what->options;
    options.spurious_one_in = 0;
    options.late_one_in = 0;
    options.slow_one_in = 0;
    options.fault_one_in = 0;
    options.audit_one_in = 0;
    options.cancel_at = 0;
    options.fault_free_after = 1;
    options.converge_steps = UINT32_MAX;
    options.converge_ns = sim_option_max(SIM_OPTION_converge_ns);
    options.steps_max = steps / TIMES + 1;
    options.time_ns_max = ns / TIMES + 1;
    return options;
}

/* True when it passed; *ret_steps: in so many. */
static bool
run_control(struct sim_world *world, const struct sim_case *what, const struct sim_tape *tape,
        const struct sim_options *options, uint64_t *ret_steps)
{
    const struct sim_recording nothing = {false, false};
    struct sim_control control;
    struct sim_outcome outcome;
    rt_assert(tape != NULL);
    sim_control_init(&control, tape, CONTROL_DEVIATIONS, is_disturbance);
    sim_world_run(world, what->scenario, options, what->seed, &control.replay.strategy, nothing,
            &outcome);
    sim_control_fini(&control);
    *ret_steps = outcome.steps;
    return outcome.verdict == SIM_VERDICT_PASS;
}

/* ---- The verdict. ---------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void
add(struct sim_outcome *outcome, const char *format, ...)
{
    rt_assert(format != NULL);
    size_t used = strlen(outcome->message);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(outcome->message + used, sizeof(outcome->message) - used, format, arguments);
    va_end(arguments);
}

static void
say(struct sim_outcome *outcome, const struct sim_health *health, const struct witness *witness,
        uint64_t control_steps)
{
    rt_assert(witness->polls > 0 || witness->actor == UINT32_MAX);
    outcome->message[0] = '\0';
    add(outcome, "no faults after step %llu, and %llu steps (%llu ms) later it ",
            (unsigned long long)health->step,
            (unsigned long long)(outcome->fail_step - health->step),
            (unsigned long long)((outcome->fail_ns - health->ns) / 1000000));
    add(outcome, "has not ended");
    if (witness->actor != UINT32_MAX) {
        add(outcome, ": '%s' was polled %llu times since", witness->name,
                (unsigned long long)witness->polls);
    }
    if (witness->reason[0] != '\0') {
        add(outcome, ", waiting for %s", witness->reason);
    }
    if (control_steps != 0) {
        add(outcome, "; without any faults it ends after %llu steps",
                (unsigned long long)control_steps);
    }
}

/* No line is responsible: where the bound happens to meet the run says nothing. */
static void
accuse(struct sim_outcome *outcome, const struct sim_health *health, const struct witness *witness,
        uint64_t control_steps)
{
    rt_assert(health->fault_free);
    rt_assert(outcome->verdict != SIM_VERDICT_PASS);
    outcome->verdict = SIM_VERDICT_LIVELOCK;
    outcome->oracle = SIM_ORACLE_LIVENESS;
    outcome->actor = witness->actor;
    outcome->object = witness->object;
    outcome->site = 0;
    memcpy(outcome->actor_name, witness->name, sizeof(outcome->actor_name));
    say(outcome, health, witness, control_steps);
}

static bool
is_declared(const struct sim_case *what)
{
    return what->options.converge_steps != 0 || what->options.converge_ns != 0 ||
           what->scenario->converge_steps != 0 || what->scenario->converge_ns != 0;
}

bool
sim_judge_liveness(struct sim_world *world, const struct sim_case *what,
        const struct sim_tape *tape, const struct sim_health *health, struct sim_outcome *outcome)
{
    rt_assert(tape != NULL);
    rt_assert(outcome->verdict != SIM_VERDICT_PASS);
    struct witness witness;
    uint64_t control_steps = 0;
    if (!health->fault_free || health->injections == 0 ||
            !find_witness(world, what, health, outcome, &witness)) {
        return false;
    }
    if (outcome->oracle != SIM_ORACLE_LIVENESS || !is_declared(what)) {
        const struct sim_options options = control_options(
                what, outcome->fail_step - health->step, outcome->fail_ns - health->ns);
        if (witness.excused || witness.polls < BUSY_POLLS ||
                !run_control(world, what, tape, &options, &control_steps)) {
            return false;
        }
    }
    accuse(outcome, health, &witness, control_steps);
    return true;
}
