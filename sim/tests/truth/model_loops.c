/*
 * model_loops.c -- a loop of callbacks over descriptors, and its workers: an operation is a step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/tests/truth/model_priv.h"

/* Actor 0: stage 0 calls the wait, 1 is in it, 2 handles what was reported, 3 a timeout. */
enum { CALLS, WAITS, HANDLES, TIMED_OUT };

static uint32_t
readable(const struct truth_state *state)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < TRUTH_FDS; i++) {
        any |= state->fd[i];
    }
    return any;
}

static void
call_wait(struct truth_state *state, const struct truth_program *program)
{
    struct truth_of *of = &state->actor[0];
    const struct truth_op *listen = &program->actor[0].ops[0];
    of->stage = WAITS;
    of->pc = 0;
    if (listen->c != 0) {
        of->timed = 1;
        of->deadline_ns = state->now_ns + listen->c * TRUTH_MS;
    }
}

/* The next operation of the loop from `pc` on: of the descriptor that is handled, or, after a
 * timeout, each check. 0: none. */
static uint32_t
next_of_loop(const struct truth_of *of, const struct truth_actor *is)
{
    for (uint32_t at = of->pc + 1u; at < is->count; at++) {
        bool of_this = of->stage == HANDLES ? is->ops[at].a + 1 == of->pending[0]
                                            : is->ops[at].kind == TRUTH_CHECK;
        if (of_this) {
            return at;
        }
    }
    return 0;
}

/* After an operation, or the return of a wait: what follows; calls the wait when nothing does. */
static void
turn_loop(struct truth_state *state, const struct truth_program *program, struct truth_gains *gains)
{
    struct truth_of *of = &state->actor[0];
    const struct truth_actor *is = &program->actor[0];
    bool handled = of->stage == HANDLES;
    while (of->stage == HANDLES && next_of_loop(of, is) == 0) {
        of->pending[0] = of->pending[1];
        of->pending[1] = 0;
        of->pc = 0;
        of->stage = of->pending[0] == 0 ? CALLS : HANDLES;
    }
    if (of->stage == TIMED_OUT && next_of_loop(of, is) == 0) {
        of->stage = CALLS;
    }
    if (handled && of->stage == CALLS && program->watched) {
        return; /* A callback that is declared ends a step. */
    }
    if (of->stage == CALLS && state->taken >= is->ops[0].b) {
        memset(of, 0, sizeof(*of));
        of->status = TRUTH_DONE;
        gains->sure++;
    } else if (of->stage == CALLS) {
        call_wait(state, program);
    }
}

void
truth_wait_returns(struct truth_state *state, const struct truth_program *program, uint32_t first,
        uint32_t second)
{
    struct truth_of *of = &state->actor[0];
    struct truth_gains none = {0};
    of->pending[0] = (uint8_t)first;
    of->pending[1] = (uint8_t)second;
    of->stage = first == 0 ? TIMED_OUT : HANDLES;
    of->pc = 0;
    of->timed = 0;
    of->deadline_ns = 0;
    turn_loop(state, program, &none); /* Where nothing is to be done for it. */
}

static void
operate_on(struct truth_state *state, const struct truth_program *program,
        const struct truth_op *op, struct truth_gains *gains)
{
    uint8_t *counter = op->kind == TRUTH_DRAIN ? &state->fd[op->a] : &state->flag[op->a];
    if (op->kind == TRUTH_DRAIN) {
        gains->sure += *counter > 0;
    } else {
        (void)(*counter > 0 && truth__passed(program, 0, gains, true));
        state->taken = (uint8_t)(state->taken + *counter);
    }
    *counter = 0;
}

static void
operate_loop(
        struct truth_state *state, const struct truth_program *program, struct truth_gains *gains)
{
    struct truth_of *of = &state->actor[0];
    const struct truth_actor *is = &program->actor[0];
    uint32_t at = next_of_loop(of, is);
    if (at != 0) {
        operate_on(state, program, &is->ops[at], gains);
    }
    of->pc = (uint8_t)at;
    turn_loop(state, program, gains);
}

static void
operate_worker(struct truth_state *state, const struct truth_program *program, uint32_t actor,
        struct truth_gains *gains)
{
    struct truth_of *of = &state->actor[actor];
    const struct truth_actor *is = &program->actor[actor];
    if (of->timed) { /* It has slept. */
        truth__end_operation(of);
    }
    if (of->pc < is->count) {
        const struct truth_op *op = &is->ops[of->pc];
        if (op->kind == TRUTH_SLEEP) {
            of->timed = 1;
            of->deadline_ns = state->now_ns + op->a * TRUTH_MS;
            return;
        }
        state->flag[op->a] = (uint8_t)(state->flag[op->a] + (op->kind == TRUTH_SET));
        if (op->kind == TRUTH_NOTIFY) {
            state->fd[op->a]++;
            gains->open++;
        }
        of->pc++;
    } else {
        of->status = TRUTH_DONE;
        gains->sure++;
    }
}

void
truth_call_back(struct truth_state *state, const struct truth_program *program, uint32_t fd,
        struct truth_gains *gains)
{
    const struct truth_actor *is = &program->actor[0];
    for (uint32_t at = 1; at < is->count; at++) {
        if (is->ops[at].a == fd) {
            operate_on(state, program, &is->ops[at], gains);
        }
    }
    gains->sure += state->taken >= is->ops[0].b;
}

void
truth_operate(struct truth_state *state, const struct truth_program *program, uint32_t actor,
        struct truth_gains *gains)
{
    if (actor == 0) {
        if (state->actor[0].stage == CALLS) {
            turn_loop(state, program, gains);
        } else {
            operate_loop(state, program, gains);
        }
    } else {
        operate_worker(state, program, actor, gains);
    }
}

bool
truth_in_wait(const struct truth_state *state)
{
    return state->actor[0].stage == WAITS && state->actor[0].status != TRUTH_DONE;
}

bool
truth__loop_can_step(const struct truth_state *state, uint32_t actor)
{
    const struct truth_of *of = &state->actor[actor];
    bool due = of->timed && of->deadline_ns <= state->now_ns;
    if (actor == 0 && of->stage == WAITS) {
        return due || readable(state) != 0;
    }
    return !of->timed || due;
}
