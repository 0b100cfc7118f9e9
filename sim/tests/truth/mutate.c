/*
 * mutate.c -- one thing that is done to a correct program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/tests/truth/program_priv.h"

static void
remove_op(struct truth_actor *actor, uint32_t at)
{
    memmove(actor->ops + at, actor->ops + at + 1,
            (actor->count - at - 1u) * sizeof(struct truth_op));
    actor->count--;
    memset(actor->ops + actor->count, 0, sizeof(struct truth_op));
}

static void
insert_op(struct truth_actor *actor, uint32_t at, struct truth_op op)
{
    memmove(actor->ops + at + 1, actor->ops + at, (actor->count - at) * sizeof(struct truth_op));
    actor->ops[at] = op;
    actor->count++;
}

static void
swap_ops(struct truth_actor *actor, uint32_t at)
{
    struct truth_op first = actor->ops[at];
    actor->ops[at] = actor->ops[at + 1];
    actor->ops[at + 1] = first;
}

/* The n-th operation of one of two kinds, counted from a drawn place; false: there is none. */
static bool
find(struct truth__maker *maker, enum truth_op_kind kind, enum truth_op_kind or_kind,
        struct truth_actor **ret_actor, uint32_t *ret_at)
{
    struct truth_program *program = maker->program;
    uint32_t found = 0;
    for (uint32_t i = 0; i < program->actors; i++) {
        for (uint32_t k = 0; k < program->actor[i].count; k++) {
            uint32_t is = program->actor[i].ops[k].kind;
            if ((is == kind || is == or_kind) && truth__draw(maker, ++found) == 0) {
                *ret_actor = &program->actor[i];
                *ret_at = k;
            }
        }
    }
    return found > 0;
}

static void
move_wake(struct truth__maker *maker, uint32_t mutation, struct truth_actor *actor, uint32_t at)
{
    struct truth_op wake = actor->ops[at];
    struct truth_op yield = {TRUTH_YIELD, 0, 0, 0};
    struct truth_op nap = {TRUTH_SLEEP, (uint8_t)(1 + truth__draw(maker, 6)), 0, 0};
    if (mutation == TRUTH_MUTATION_DELAY) {
        insert_op(actor, at, nap);
    } else if (at > 0 && mutation != TRUTH_MUTATION_HEARTBEAT) {
        swap_ops(actor, at - 1);
        if (mutation == TRUTH_MUTATION_EARLY) {
            insert_op(actor, at, yield);
        }
    } else if (mutation == TRUTH_MUTATION_HEARTBEAT) {
        remove_op(actor, at);
        struct truth_actor *heart =
                &maker->program->actor[truth__draw(maker, maker->program->actors)];
        if (heart->count + 2u <= TRUTH_OPS) {
            insert_op(heart, heart->count, nap);
            insert_op(heart, heart->count, wake);
        }
    }
}

void
truth__mutate_task(struct truth__maker *maker, uint32_t mutation)
{
    struct truth_actor *actor = NULL;
    uint32_t at = 0;
    if (!find(maker, TRUTH_WAKE, TRUTH_WAKE, &actor, &at)) {
        return;
    }
    switch (mutation) {
    case TRUTH_MUTATION_DROP:
        remove_op(actor, at);
        break;
    case TRUTH_MUTATION_WRONG_SLOT:
        actor->ops[at].a = (uint8_t)truth__draw(maker, maker->slots);
        break;
    case TRUTH_MUTATION_STORE_ELSEWHERE:
        if (find(maker, TRUTH_WAIT, TRUTH_TAKE, &actor, &at)) {
            actor->ops[at].b = (uint8_t)truth__draw(maker, maker->slots);
        }
        break;
    case TRUTH_MUTATION_STORE_LATE:
        if (find(maker, TRUTH_WAIT, TRUTH_WAIT, &actor, &at)) {
            actor->ops[at].kind = TRUTH_WAIT_LATE;
        }
        break;
    case TRUTH_MUTATION_NO_SOURCE:
        if (find(maker, TRUTH_SET, TRUTH_SEND, &actor, &at)) {
            remove_op(actor, at);
        }
        break;
    case TRUTH_MUTATION_NO_RELEASE:
        if (find(maker, TRUTH_RELEASE, TRUTH_RELEASE, &actor, &at)) {
            remove_op(actor, at);
        }
        break;
    case TRUTH_MUTATION_NO_CANCEL:
        if (find(maker, TRUTH_CANCEL, TRUTH_CANCEL, &actor, &at)) {
            remove_op(actor, at);
        }
        break;
    case TRUTH_MUTATION_DRAIN_LAST:
    case TRUTH_MUTATION_DRAIN_ONLY:
        maker->program->mutation = TRUTH_MUTATION_NOTHING;
        break;
    default:
        move_wake(maker, mutation, actor, at);
        break;
    }
}

void
truth__mutate_loop(struct truth__maker *maker, uint32_t mutation)
{
    struct truth_actor *actor = NULL;
    uint32_t at = 0;
    struct truth_op nap = {TRUTH_SLEEP, (uint8_t)(2 + truth__draw(maker, 6)), 0, 0};
    switch (mutation) {
    case TRUTH_MUTATION_DROP:
    case TRUTH_MUTATION_EARLY:
    case TRUTH_MUTATION_DELAY:
        if (!find(maker, TRUTH_NOTIFY, TRUTH_NOTIFY, &actor, &at)) {
            break;
        }
        if (mutation == TRUTH_MUTATION_DROP) {
            remove_op(actor, at);
        } else if (mutation == TRUTH_MUTATION_DELAY) {
            insert_op(actor, at, nap);
        } else {
            swap_ops(actor, at - 1);
        }
        break;
    case TRUTH_MUTATION_NO_SOURCE:
        if (find(maker, TRUTH_SET, TRUTH_SET, &actor, &at)) {
            remove_op(actor, at);
        }
        break;
    case TRUTH_MUTATION_DRAIN_LAST:
    case TRUTH_MUTATION_DRAIN_ONLY:
        actor = &maker->program->actor[0];
        at = 1 + 2 * truth__draw(maker, TRUTH_FDS);
        swap_ops(actor, at);
        if (mutation == TRUTH_MUTATION_DRAIN_ONLY) {
            remove_op(actor, at);
        }
        break;
    default:
        maker->program->mutation = TRUTH_MUTATION_NOTHING;
        break;
    }
}
