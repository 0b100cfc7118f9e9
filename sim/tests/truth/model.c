/*
 * model.c -- one step of the reference model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/truth/model_priv.h"

#include <string.h>

_Static_assert(sizeof(struct truth_state) == offsetof(struct truth_state, padding) +
                                                     sizeof(((struct truth_state *)0)->padding),
        "padding is named");

/* ---- Wakes. ---------------------------------------------------------------------------------- */

static void
wake_actor(struct truth_state *state, uint32_t actor)
{
    struct truth_of *of = &state->actor[actor];
    if (of->status == TRUTH_BLOCKED) {
        of->status = TRUTH_WOKEN;
    } else if (of->status == TRUTH_RUNNING) {
        of->rewoken = 1;
    }
}

/* W6: the slot is empty first, then its waker is woken. */
static void
wake_slot(struct truth_state *state, uint8_t *slot)
{
    uint8_t waiter = *slot;
    *slot = 0;
    if (waiter != 0) {
        wake_actor(state, waiter - 1u);
    }
}

/* T7, T9: what was stored for a task that has ended is gone. */
static void
forget(struct truth_state *state, uint32_t actor)
{
    for (uint32_t i = 0; i < TRUTH_SLOTS; i++) {
        state->slot[i] = state->slot[i] == actor + 1 ? 0 : state->slot[i];
    }
    for (uint32_t i = 0; i < TRUTH_ACTORS; i++) {
        state->joiner[i] = state->joiner[i] == actor + 1 ? 0 : state->joiner[i];
    }
}

void
truth__end_operation(struct truth_of *of)
{
    of->pc++;
    of->stage = 0;
    of->armed = 0;
    of->timed = 0;
    of->deadline_ns = 0;
}

/* ---- Channels: one sender, one receiver, what is handed over is granted. --------------------- */

static void
item_arrives(struct truth_state *state, struct truth_channel *channel)
{
    if (channel->receiver != 0) {
        wake_actor(state, channel->receiver - 1u);
        channel->receiver = 0;
        channel->item_granted = 1;
    } else {
        channel->items++;
    }
}

static void
space_arrives(struct truth_state *state, struct truth_channel *channel)
{
    if (channel->sender != 0) {
        wake_actor(state, channel->sender - 1u);
        channel->sender = 0;
        channel->space_granted = 1;
    } else {
        channel->space++;
    }
}

static bool
send(struct truth_state *state, struct truth_channel *channel, uint32_t actor)
{
    if (channel->space_granted) {
        channel->space_granted = 0;
    } else if (channel->space > 0) {
        channel->space--;
    } else {
        channel->sender = (uint8_t)(actor + 1);
        return false;
    }
    item_arrives(state, channel);
    return true;
}

static bool
receive(struct truth_state *state, struct truth_channel *channel, uint32_t actor)
{
    if (channel->item_granted) {
        channel->item_granted = 0;
    } else if (channel->items > 0) {
        channel->items--;
    } else {
        channel->receiver = (uint8_t)(actor + 1);
        return false;
    }
    space_arrives(state, channel);
    return true;
}

/* A future that is dropped hands on what it was granted (K5, K6). */
static void
leave_channels(struct truth_state *state, const struct truth_of *of, const struct truth_op *op,
        uint32_t actor)
{
    struct truth_channel *channel = &state->channel[op->a % TRUTH_CHANNELS];
    if (of->stage == 0) {
        return; /* It was not polled yet. */
    }
    if (op->kind == TRUTH_SEND) {
        channel->sender = channel->sender == actor + 1 ? 0 : channel->sender;
        channel->space = (uint8_t)(channel->space + channel->space_granted);
        channel->space_granted = 0;
    } else if (op->kind == TRUTH_RECV) {
        channel->receiver = channel->receiver == actor + 1 ? 0 : channel->receiver;
        channel->items = (uint8_t)(channel->items + channel->item_granted);
        channel->item_granted = 0;
    }
}

/* ---- The permit: first come, first served. --------------------------------------------------- */

static void
permit_arrives(struct truth_state *state)
{
    struct truth_permit *permit = &state->permit;
    uint8_t first = permit->queue[0];
    if (first == 0) {
        permit->free++;
        return;
    }
    memmove(permit->queue, permit->queue + 1, TRUTH_ACTORS - 1);
    permit->queue[TRUTH_ACTORS - 1] = 0;
    permit->granted[first - 1] = 1;
    wake_actor(state, first - 1u);
}

static bool
acquire(struct truth_state *state, uint32_t actor)
{
    struct truth_permit *permit = &state->permit;
    if (permit->granted[actor]) {
        permit->granted[actor] = 0;
        return true;
    }
    if (permit->free > 0) {
        permit->free--;
        return true;
    }
    uint32_t place = 0;
    while (permit->queue[place] != 0 && permit->queue[place] != actor + 1) {
        place++;
    }
    permit->queue[place] = (uint8_t)(actor + 1);
    return false;
}

static void
leave_queue(struct truth_state *state, uint32_t actor)
{
    struct truth_permit *permit = &state->permit;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < TRUTH_ACTORS; i++) {
        uint8_t waiter = permit->queue[i];
        permit->queue[i] = 0;
        if (waiter != actor + 1) {
            permit->queue[kept] = waiter;
            kept += waiter != 0;
        }
    }
    if (permit->granted[actor]) {
        permit->granted[actor] = 0;
        permit_arrives(state);
    }
}

/* ---- The end of a task. ---------------------------------------------------------------------- */

static void
cancel(struct truth_state *state, const struct truth_program *program, uint32_t actor)
{
    struct truth_of *of = &state->actor[actor];
    const struct truth_actor *is = &program->actor[actor];
    if (of->status != TRUTH_BLOCKED && of->status != TRUTH_WOKEN) {
        return;
    }
    forget(state, actor);
    if (of->pc < is->count) {
        leave_channels(state, of, &is->ops[of->pc], actor);
        leave_queue(state, actor);
    }
    uint8_t pc = of->pc;
    memset(of, 0, sizeof(*of));
    of->pc = pc;
    of->status = TRUTH_CANCELLED;
    for (uint32_t i = 0; i < is->cleanups; i++) {
        if (is->cleanup[i].kind == TRUTH_SET) {
            state->flag[is->cleanup[i].a]++;
        } else {
            wake_slot(state, &state->slot[is->cleanup[i].a]);
        }
    }
    wake_slot(state, &state->joiner[actor]);
}

static void
complete(struct truth_state *state, uint32_t actor, struct truth_gains *gains)
{
    forget(state, actor);
    state->actor[actor].status = TRUTH_DONE;
    state->actor[actor].rewoken = 0;
    gains->sure++;
    wake_slot(state, &state->joiner[actor]);
}

/* ---- One operation of a task; false: it is pending. ------------------------------------------ */

static bool
time_is_up(struct truth_state *state, struct truth_of *of, uint32_t ms)
{
    if (!of->timed) {
        of->timed = 1;
        of->deadline_ns = state->now_ns + ms * TRUTH_MS;
        of->armed = 1;
    }
    return state->now_ns >= of->deadline_ns;
}

static bool
wait_or_store(struct truth_state *state, const struct truth_op *op, uint32_t actor)
{
    if (state->flag[op->a] > 0) {
        return true;
    }
    state->slot[op->b] = (uint8_t)(actor + 1);
    if (op->kind == TRUTH_WAIT && op->c != TRUTH_NONE) {
        state->slot[op->c] = (uint8_t)(actor + 1);
    }
    return false;
}

static bool
wait_late(struct truth_state *state, struct truth_of *of, const struct truth_op *op, uint32_t actor)
{
    if (of->stage == 1) {
        state->slot[op->b] = (uint8_t)(actor + 1);
        of->stage = 0;
        return false;
    }
    if (state->flag[op->a] > 0) {
        return true;
    }
    of->stage = 1;
    of->rewoken = 1;
    return false;
}

static bool
wait_turn(struct truth_state *state, struct truth_of *of, const struct truth_op *op, uint32_t actor)
{
    if (state->flag[op->a] > 0) {
        return true;
    }
    state->slot[of->stage == 0 ? op->b : op->c] = (uint8_t)(actor + 1);
    of->stage = of->stage == 0;
    return false;
}

static bool
hedge(struct truth_state *state, struct truth_of *of, const struct truth_op *op, uint32_t actor)
{
    if (state->flag[op->a] > 0) {
        return true;
    }
    uint32_t replica = op->c + of->stage;
    of->stage = of->stage == 0;
    state->flag[replica]++;
    wake_slot(state, &state->slot[replica]);
    state->slot[op->b] = (uint8_t)(actor + 1);
    return false;
}

static bool
wait_any(struct truth_state *state, const struct truth_op *op, uint32_t actor)
{
    if (state->flag[op->a] > 0 || state->flag[op->b] > 0) {
        return true;
    }
    state->slot[op->a] = (uint8_t)(actor + 1);
    state->slot[op->b] = (uint8_t)(actor + 1);
    return false;
}

static bool
wait_time(struct truth_state *state, struct truth_of *of, const struct truth_op *op, uint32_t actor)
{
    if (state->flag[op->a] > 0 || time_is_up(state, of, op->c)) {
        return true;
    }
    state->slot[op->b] = (uint8_t)(actor + 1);
    return false;
}

static bool
join(struct truth_state *state, uint32_t joined, uint32_t actor)
{
    if (state->actor[joined].status == TRUTH_DONE ||
            state->actor[joined].status == TRUTH_CANCELLED) {
        return true;
    }
    state->joiner[joined] = (uint8_t)(actor + 1);
    return false;
}

/* A wait that is over. */
bool
truth__passed(
        const struct truth_program *program, uint32_t actor, struct truth_gains *gains, bool over)
{
    gains->sure += over && program->reports;
    gains->silent |= over && !program->reports ? 1u << actor : 0;
    return over;
}

static bool
perform(struct truth_state *state, const struct truth_program *program, uint32_t actor,
        struct truth_gains *gains)
{
    struct truth_of *of = &state->actor[actor];
    const struct truth_op *op = &program->actor[actor].ops[of->pc];
    bool over;
    switch (op->kind) {
    case TRUTH_SET:
        state->flag[op->a]++;
        return true;
    case TRUTH_WAKE:
        wake_slot(state, &state->slot[op->a]);
        return true;
    case TRUTH_WAIT:
        return truth__passed(program, actor, gains, wait_or_store(state, op, actor));
    case TRUTH_TAKE:
        over = wait_or_store(state, op, actor);
        state->flag[op->a] = (uint8_t)(state->flag[op->a] - over);
        return truth__passed(program, actor, gains, over);
    case TRUTH_WAIT_LATE:
        return truth__passed(program, actor, gains, wait_late(state, of, op, actor));
    case TRUTH_WAIT_LOCKED:
    case TRUTH_WAIT_LINES:
        return truth__passed(program, actor, gains, wait_or_store(state, op, actor));
    case TRUTH_WAIT_TURN:
        return truth__passed(program, actor, gains, wait_turn(state, of, op, actor));
    case TRUTH_HEDGE:
        return truth__passed(program, actor, gains, hedge(state, of, op, actor));
    case TRUTH_WAIT_ANY:
        return truth__passed(program, actor, gains, wait_any(state, op, actor));
    case TRUTH_WAIT_TIME:
        return truth__passed(program, actor, gains, wait_time(state, of, op, actor));
    case TRUTH_JOIN:
        return truth__passed(program, actor, gains, join(state, op->a, actor));
    case TRUTH_SLEEP:
        return time_is_up(state, of, op->a);
    case TRUTH_YIELD:
        of->rewoken = of->stage == 0 ? 1 : of->rewoken;
        return of->stage++ > 0;
    case TRUTH_SEND:
        over = send(state, &state->channel[op->a], actor);
        of->stage = 1;
        gains->open += over;
        return over;
    case TRUTH_RECV:
        over = receive(state, &state->channel[op->a], actor);
        of->stage = 1;
        gains->sure += over;
        return over;
    case TRUTH_ACQUIRE:
        over = acquire(state, actor);
        gains->permits += over;
        return over;
    case TRUTH_RELEASE:
        gains->permits--;
        permit_arrives(state);
        return true;
    case TRUTH_CANCEL:
        cancel(state, program, op->a);
        return true;
    default:
        return true;
    }
}

/* Operations up to one that is pending, or the end. */
static bool
run(struct truth_state *state, const struct truth_program *program, uint32_t actor,
        struct truth_gains *gains)
{
    struct truth_of *of = &state->actor[actor];
    while (of->pc < program->actor[actor].count) {
        if (!perform(state, program, actor, gains)) {
            of->status = of->rewoken ? TRUTH_WOKEN : TRUTH_BLOCKED;
            of->rewoken = 0;
            return false;
        }
        truth__end_operation(of);
    }
    complete(state, actor, gains);
    return true;
}

bool
truth_poll(struct truth_state *state, const struct truth_program *program, uint32_t actor,
        struct truth_gains *gains)
{
    state->actor[actor].status = TRUTH_RUNNING;
    state->actor[actor].rewoken = 0;
    gains->permits = 0;
    bool done = run(state, program, actor, gains);
    gains->sure += gains->permits > 0; /* What is given back in the same poll is no gain. */
    gains->open += gains->permits < 0;
    return done;
}

void
truth_timers(struct truth_state *state, const struct truth_program *program)
{
    for (uint32_t i = 0; i < program->actors; i++) {
        struct truth_of *of = &state->actor[i];
        if (of->armed && of->deadline_ns <= state->now_ns) {
            of->armed = 0;
            wake_actor(state, i);
        }
    }
}

/* ---- The state as a whole. ------------------------------------------------------------------- */

void
truth_state_init(struct truth_state *state, const struct truth_program *program)
{
    memset(state, 0, sizeof(*state));
    for (uint32_t i = 0; i < program->actors; i++) {
        state->actor[i].status = TRUTH_WOKEN;
    }
    state->permit.free = 1;
    for (uint32_t i = 0; i < TRUTH_CHANNELS; i++) {
        state->channel[i].space = program->capacity[i];
    }
}

static bool
can_step(const struct truth_state *state, const struct truth_program *program, uint32_t actor)
{
    const struct truth_of *of = &state->actor[actor];
    if (of->status == TRUTH_DONE || of->status == TRUTH_CANCELLED) {
        return false;
    }
    if (program->family == TRUTH_TASKS) {
        return of->status == TRUTH_WOKEN;
    }
    return truth__loop_can_step(state, actor);
}

uint32_t
truth_enabled(const struct truth_state *state, const struct truth_program *program)
{
    uint32_t enabled = 0;
    for (uint32_t i = 0; i < program->actors; i++) {
        const struct truth_of *of = &state->actor[i];
        enabled |= can_step(state, program, i) ? 1u << i : 0;
        enabled |= of->armed && of->deadline_ns <= state->now_ns ? 1u << TRUTH_ACTORS : 0;
    }
    return enabled;
}

uint64_t
truth_next_deadline(const struct truth_state *state, const struct truth_program *program)
{
    uint64_t next_ns = TRUTH_NEVER;
    for (uint32_t i = 0; i < program->actors; i++) {
        const struct truth_of *of = &state->actor[i];
        bool counts = program->family == TRUTH_TASKS ? of->armed : of->timed;
        if (counts && of->deadline_ns < next_ns) {
            next_ns = of->deadline_ns;
        }
    }
    return next_ns;
}

bool
truth_over(const struct truth_state *state, const struct truth_program *program)
{
    for (uint32_t i = 0; i < program->actors; i++) {
        if (state->actor[i].status != TRUTH_DONE && state->actor[i].status != TRUTH_CANCELLED) {
            return false;
        }
    }
    return true;
}
