/*
 * fail.c -- how a run ends early: verdicts, the runtime's assertions, its faults.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/world.h"
#include "sim/core/world_priv.h"

static void
set_actor(struct sim_outcome *outcome, const struct sim_actor *actor)
{
    if (actor == NULL) {
        return;
    }
    outcome->actor = actor->index;
    (void)snprintf(outcome->actor_name, sizeof(outcome->actor_name), "%s", actor->name);
}

/* Where the rule was broken, if the caller has not set it. */
static void
take_stack(struct sim_outcome *outcome)
{
    bool wanted = outcome->verdict == SIM_VERDICT_CONTRACT ||
                  (outcome->verdict == SIM_VERDICT_INVARIANT && outcome->site == 0);
    if (wanted && outcome->stack.count == 0) {
        sim_stack_take(&outcome->stack);
    }
}

void
sim_fail(struct sim_world *world, enum sim_verdict verdict, enum sim_oracle oracle,
        const struct sim_actor *actor, uint32_t site, const char *format, ...)
{
    struct sim_outcome *outcome = &world->outcome;
    sim__leave(world);
    outcome->verdict = (uint8_t)verdict;
    outcome->oracle = (uint8_t)oracle;
    outcome->site = site;
    outcome->fail_step = world->step;
    outcome->fail_ns = world->now_ns;
    set_actor(outcome, actor);
    take_stack(outcome);
    va_list arguments;
    va_start(arguments, format);
    sim_outcome_vsay(outcome, format, arguments);
    va_end(arguments);
    world->over = true;
    if (world->on_fail != NULL) {
        world->on_fail();
    }
    sim__escape(world);
}

static _Noreturn void
die(const char *where, const char *what)
{
    (void)fprintf(stderr, "rewake: %s: %s\n", where, what);
    abort();
}

void
rt_panic(const char *file, int line, const char *what)
{
    struct sim_world *world = sim_world_current;
    if (world == NULL || world->finished) {
        char where[128];
        (void)snprintf(where, sizeof(where), "%s:%d: assertion failed", file, line);
        die(where, what);
    }
    sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_ASSERTION, world->current, 0,
            "assertion failed at %s:%d: %s", file, line, what);
}

void
rt_fault(rt_err err, const char *who, const char *what)
{
    struct sim_world *world = sim_world_current;
    if (world == NULL) {
        die(rt_err_name(err), what);
    }
    const struct sim_actor *actor = world->current;
    if (err == RT_E_NO_WAKER && actor->ops->code != NULL) {
        /* The poll has returned: what is on the stack is the executor alone. */
        sim_stack_of(&world->outcome.stack, actor->ops->code(actor));
    }
    if (err == RT_E_NO_WAKER) {
        world->outcome.reason = SIM_REASON_NO_WAKER;
    }
    if (who != NULL && actor->name != NULL && strcmp(who, actor->name) == 0) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_FAULT, actor, 0, "%s (%s)", what,
                rt_err_name(err));
    }
    sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_FAULT, actor, 0, "%s: %s (%s)",
            who != NULL ? who : "the runtime", what, rt_err_name(err));
}
