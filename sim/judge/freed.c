/*
 * freed.c -- which call freed the memory that was used after it, and which step wrote to it.
 *
 * A block has the return address of its last free(), which may be in a library (a string of C++);
 * a replay takes the whole stack there. A write is noticed only later. Once written the block stays
 * so, and the first step after which it is written is found by bisection, as in lost.c.
 *
 * Possible error: what is written and then filled again, byte by byte, hides the first write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/memory/reuse.h"
#include "sim/judge/judge.h"
#include "sim/judge/spurious_poll.h"
#include "sim/judge/stand.h"

struct write {
    uint64_t step;
    char actor_name[48];
};

static bool
is_written_after(struct sim_stand *stand, const void *block, uint64_t step)
{
    return sim_stand_look(stand, (struct sim_stop){step, false}) &&
           sim_reuse_is_written(&stand->world->arena, block);
}

/* Between the step that freed and the one in which it was noticed. */
static void
find_write(struct sim_stand *stand, const struct sim_freeing *freeing, struct write *write)
{
    rt_assert(freeing->step > 0);
    uint64_t before = freeing->step - 1;
    while (write->step - before > 1) {
        uint64_t middle = before + (write->step - before) / 2;
        if (is_written_after(stand, freeing->block, middle)) {
            write->step = middle;
            (void)snprintf(write->actor_name, sizeof(write->actor_name), "%s",
                    stand->world->stepping->name);
        } else {
            before = middle;
        }
    }
}

static void
say(struct sim_outcome *outcome, const struct sim_freeing *freeing, const struct write *write)
{
    char message[SIM_MESSAGE_MAX];
    (void)snprintf(message, sizeof(message), "%s", outcome->message);
    unsigned long long freed = freeing->step;
    if (write == NULL) {
        sim_outcome_say(outcome, "%s, by '%s' in step %llu", message, freeing->actor_name, freed);
        return;
    }
    sim_outcome_say(outcome,
            "%s; '%s' freed it in step %llu, '%s' wrote in step %llu, and it was noticed", message,
            freeing->actor_name, freed, write->actor_name, (unsigned long long)write->step);
}

void
sim_judge_freed(struct sim_world *world, const struct sim_case *what, struct sim_outcome *outcome)
{
    rt_assert(what->strategy != NULL);
    rt_assert(outcome->verdict == SIM_VERDICT_USE_AFTER_FREE);
    struct sim_freeing freeing = {.block = sim_reuse_misused(&world->arena)};
    bool written = freeing.block != NULL && sim_reuse_is_written(&world->arena, freeing.block);
    if (freeing.block == NULL || outcome->asked != 0) {
        return;
    }
    struct write write = {.step = outcome->fail_step};
    memcpy(write.actor_name, outcome->actor_name, sizeof(write.actor_name));
    struct sim_aside kept;
    struct sim_stand stand;
    sim_keep(world, &kept);
    sim_stand_init(&stand, world, what);
    world->freeing = &freeing;
    (void)sim_stand_look(&stand, (struct sim_stop){outcome->fail_step, false});
    world->freeing = NULL;
    if (freeing.step != 0 && written) {
        find_write(&stand, &freeing, &write);
        outcome->stack = freeing.stack;
    }
    if (freeing.step != 0) {
        say(outcome, &freeing, written ? &write : NULL);
    }
    sim_stand_leave(&stand);
    sim_restore(world, &kept);
}
