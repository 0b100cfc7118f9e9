/*
 * explore.c -- all interleavings of a program, and the question where nothing can take a step.
 *
 * Depth first, each state once. The clock counts only relative to deadlines, so two interleavings
 * that differ in what they did first, and not in what is left, meet again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "sim/core/record/outcome.h"
#include "sim/tests/truth/model.h"

#define STATES_MAX 6000u
#define TABLE 16384u
#define ASKED_MAX 1500u
#define ASKED_TABLE 4096u
#define SUCCESSORS 12u
#define BIT(verdict) (1u << SIM_VERDICT_##verdict)

/* ---- A set of states. ------------------------------------------------------------------------ */

struct seen {
    uint64_t *keys; /* 0: free. */
    uint32_t size;
    uint32_t count;
};

static uint64_t
key_of(const struct truth_state *state)
{
    struct truth_state relative = *state;
    relative.now_ns = 0;
    for (uint32_t i = 0; i < TRUTH_ACTORS; i++) {
        struct truth_of *of = &relative.actor[i];
        of->deadline_ns = of->deadline_ns > state->now_ns ? of->deadline_ns - state->now_ns : 0;
    }
    uint64_t key = XXH3_64bits(&relative, sizeof(relative));
    return key != 0 ? key : 1;
}

/* True: it was not in yet, and is now. */
static bool
add(struct seen *seen, const struct truth_state *state)
{
    uint64_t key = key_of(state);
    uint32_t at = (uint32_t)key & (seen->size - 1);
    while (seen->keys[at] != 0) {
        if (seen->keys[at] == key) {
            return false;
        }
        at = (at + 1) & (seen->size - 1);
    }
    seen->keys[at] = key;
    seen->count++;
    return true;
}

/* ---- The steps that can follow. -------------------------------------------------------------- */

struct next {
    struct truth_state state;
    struct truth_gains gains;
};

static uint32_t
wait_returns(const struct truth_state *state, const struct truth_program *program, struct next *ret)
{
    uint32_t ready = (state->fd[0] > 0 ? 1u : 0) | (state->fd[1] > 0 ? 2u : 0);
    static const uint8_t lists[][2] = {{1, 0}, {2, 0}, {1, 2}, {2, 1}};
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        uint32_t needs = 1u << (lists[i][0] - 1) | (lists[i][1] != 0 ? 1u << (lists[i][1] - 1) : 0);
        if ((needs & ~ready) == 0) {
            ret[count].state = *state;
            truth_wait_returns(&ret[count++].state, program, lists[i][0], lists[i][1]);
        }
    }
    if (count == 0) {
        ret[count].state = *state;
        truth_wait_returns(&ret[count++].state, program, 0, 0);
    }
    return count;
}

static uint32_t
steps_of(const struct truth_state *state, const struct truth_program *program, uint32_t actor,
        struct next *ret)
{
    if (program->family == TRUTH_LOOPS && actor == 0 && truth_in_wait(state)) {
        return wait_returns(state, program, ret);
    }
    ret->state = *state;
    if (actor == TRUTH_ACTORS) {
        truth_timers(&ret->state, program);
    } else if (program->family == TRUTH_TASKS) {
        (void)truth_poll(&ret->state, program, actor, &ret->gains);
    } else {
        truth_operate(&ret->state, program, actor, &ret->gains);
    }
    return 1;
}

static uint32_t
successors(const struct truth_state *state, const struct truth_program *program, uint32_t step_ns,
        struct next ret[SUCCESSORS])
{
    uint32_t enabled = truth_enabled(state, program);
    uint32_t count = 0;
    memset(ret, 0, SUCCESSORS * sizeof(*ret));
    for (uint32_t i = 0; i <= TRUTH_ACTORS; i++) {
        if ((enabled >> i & 1u) != 0) {
            count += steps_of(state, program, i, ret + count);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        ret[i].state.now_ns += step_ns;
    }
    return count;
}

/* ---- The question. --------------------------------------------------------------------------- */

struct asking {
    const struct truth_program *program;
    bool clock_moves;
    uint32_t actor; /* The one that is asked. */
    struct seen seen;
    uint64_t keys[ASKED_TABLE];
    bool gained;
    bool gained_nothing;
    bool open;
};

/* A path ends at its first gain, or where nothing can follow. */
static void
follow_paths(struct asking *asking, const struct truth_state *state)
{
    struct truth_state from = *state;
    struct next next[SUCCESSORS];
    if (asking->seen.count >= ASKED_MAX) {
        asking->open = true;
        return;
    }
    if (!add(&asking->seen, state)) {
        return;
    }
    while (truth_enabled(&from, asking->program) == 0) {
        uint64_t due_ns = truth_next_deadline(&from, asking->program);
        if (!asking->clock_moves || due_ns == TRUTH_NEVER) {
            asking->gained_nothing = true;
            return;
        }
        from.now_ns = due_ns;
    }
    uint32_t count =
            successors(&from, asking->program, asking->clock_moves ? TRUTH_STEP_NS : 0, next);
    for (uint32_t i = 0; i < count; i++) {
        const struct truth_gains *gains = &next[i].gains;
        asking->open |= gains->open > 0 ||
                        (!asking->clock_moves && (gains->silent >> asking->actor & 1u) != 0);
        if (gains->sure > 0) {
            asking->gained = true;
        } else {
            follow_paths(asking, &next[i].state);
        }
    }
}

static enum truth_answer
answer_to(const struct truth_program *program, const struct truth_state *asked, uint32_t actor,
        bool clock_moves)
{
    struct asking asking = {.program = program, .clock_moves = clock_moves, .actor = actor};
    asking.seen = (struct seen){asking.keys, ASKED_TABLE, 0};
    follow_paths(&asking, asked);
    if (asking.gained && !asking.gained_nothing) {
        return TRUTH_YES;
    }
    return asking.gained || asking.open ? TRUTH_OPEN : TRUTH_NO;
}

static enum truth_answer
ask_task(const struct truth_state *state, const struct truth_program *program, uint32_t actor,
        bool clock_moves)
{
    struct truth_state asked = *state;
    asked.actor[actor].status = TRUTH_WOKEN;
    return answer_to(program, &asked, actor, clock_moves);
}

/* Hosts count milliseconds: what comes within one, and a few steps, may be in time. */
static bool
comes_soon(const struct truth_state *state, const struct truth_program *program)
{
    uint64_t next_ns = truth_next_deadline(state, program);
    return next_ns <= state->now_ns + TRUTH_MS + 100 * TRUTH_STEP_NS;
}

/* A callback that is declared is called for nothing. Whether a loop that has a timeout has chosen
 * to wait for that is left open here. */
static enum truth_answer
ask_callback(const struct truth_state *state, const struct truth_program *program, uint32_t fd,
        bool clock_moves)
{
    struct truth_state asked = *state;
    struct truth_gains gains = {0};
    truth_call_back(&asked, program, fd, &gains);
    bool open = !clock_moves && (program->actor[0].ops[0].c != 0 || comes_soon(state, program));
    if (gains.sure > 0) {
        return open ? TRUTH_OPEN : TRUTH_YES;
    }
    return gains.silent != 0 && !clock_moves ? TRUTH_OPEN : TRUTH_NO;
}

/*
 * A loop that is blocked is given a report for nothing, of each descriptor. One that has a timeout
 * has chosen to wait for that.
 */
static enum truth_answer
ask_loop(const struct truth_state *state, const struct truth_program *program, uint32_t fd,
        bool clock_moves)
{
    struct truth_state asked = *state;
    if (!clock_moves && program->actor[0].ops[0].c != 0) {
        return TRUTH_NO;
    }
    truth_wait_returns(&asked, program, fd + 1, 0);
    enum truth_answer answer = answer_to(program, &asked, 0, clock_moves);
    bool open = !clock_moves && comes_soon(state, program);
    return answer == TRUTH_YES && open ? TRUTH_OPEN : answer;
}

enum truth_answer
truth_ask(const struct truth_state *state, const struct truth_program *program, bool clock_moves)
{
    enum truth_answer best = TRUTH_NO;
    bool tasks = program->family == TRUTH_TASKS;
    for (uint32_t i = 0; i < (tasks ? program->actors : TRUTH_FDS); i++) {
        enum truth_answer answer = TRUTH_NO;
        if (tasks && state->actor[i].status == TRUTH_BLOCKED) {
            answer = ask_task(state, program, i, clock_moves);
        } else if (!tasks && truth_in_wait(state)) {
            answer = program->watched ? ask_callback(state, program, i, clock_moves)
                                      : ask_loop(state, program, i, clock_moves);
        }
        best = answer > best ? answer : best;
    }
    return best;
}

/* Polling all, round after round: the public documents call it a lost wake-up when that brings one
 * to its end. In the order of the actors. */
static bool
rounds_gain(const struct truth_state *state, const struct truth_program *program)
{
    struct truth_state at = *state;
    struct truth_gains gains = {0};
    for (uint32_t round = 0; round < 4 * TRUTH_OPS && gains.sure == 0; round++) {
        for (uint32_t i = 0; i < program->actors; i++) {
            if (at.actor[i].status == TRUTH_BLOCKED || at.actor[i].status == TRUTH_WOKEN) {
                (void)truth_poll(&at, program, i, &gains);
            }
        }
        uint64_t due_ns = truth_next_deadline(&at, program);
        at.now_ns = due_ns != TRUTH_NEVER && due_ns > at.now_ns ? due_ns : at.now_ns;
        truth_timers(&at, program);
    }
    return gains.sure > 0;
}

/* ---- How a run ends. ------------------------------------------------------------------------- */

static void
ends(struct truth_reach *reach, uint32_t one, uint32_t or_other)
{
    reach->possible |= one | or_other;
    reach->sure |= or_other == 0 ? one : 0;
}

void
truth_verdicts(const struct truth_state *state, const struct truth_program *program,
        struct truth_reach *ret)
{
    if (truth_over(state, program)) {
        bool sure = (state->late & TRUTH_LATE_SURE) != 0;
        bool open = (state->late & TRUTH_LATE_OPEN) != 0 && !sure;
        ends(ret, sure ? BIT(LATE_WAKEUP) : BIT(PASS), open ? BIT(LATE_WAKEUP) : 0);
        return;
    }
    enum truth_answer answer = truth_ask(state, program, true);
    if (answer == TRUTH_YES) {
        ends(ret, BIT(LOST_WAKEUP), 0);
    } else if (answer == TRUTH_OPEN ||
               (program->family == TRUTH_TASKS && rounds_gain(state, program))) {
        ends(ret, BIT(LOST_WAKEUP), BIT(DEADLOCK));
    } else {
        ends(ret, BIT(DEADLOCK), 0);
    }
}

/* A loop that polls by a timeout, and whose source has gone, never ends: nothing is gained on any
 * path from here. */
bool
truth_spins(const struct truth_state *state, const struct truth_program *program)
{
    return program->family == TRUTH_LOOPS && program->actor[0].ops[0].c != 0 &&
           answer_to(program, state, 0, true) == TRUTH_NO;
}

/* ---- All interleavings. ---------------------------------------------------------------------- */

struct exploring {
    const struct truth_program *program;
    struct truth_reach *reach;
    struct seen seen;
    struct truth_state *stack;
    uint32_t depth;
};

static void
push(struct exploring *exploring, const struct truth_state *state)
{
    if (exploring->seen.count >= STATES_MAX) {
        exploring->reach->complete = false;
    } else if (add(&exploring->seen, state)) {
        exploring->stack[exploring->depth++] = *state;
    }
}

/* Nothing can take a step: the question of the audit, then the clock moves, or it is the end. */
static void
rest(struct exploring *exploring, struct truth_state *state)
{
    const struct truth_program *program = exploring->program;
    uint64_t due_ns = truth_next_deadline(state, program);
    if (due_ns == TRUTH_NEVER) {
        truth_verdicts(state, program, exploring->reach);
        return;
    }
    state->late |= truth_late(state, program);
    state->now_ns = due_ns;
    push(exploring, state);
}

uint8_t
truth_late(const struct truth_state *state, const struct truth_program *program)
{
    switch (truth_ask(state, program, false)) {
    case TRUTH_YES:
        return TRUTH_LATE_SURE;
    case TRUTH_OPEN:
        return TRUTH_LATE_OPEN;
    case TRUTH_NO:
        break;
    }
    return 0;
}

void
truth_explore(const struct truth_program *program, struct truth_reach *ret)
{
    static uint64_t keys[TABLE];
    static struct truth_state stack[STATES_MAX + SUCCESSORS];
    struct next next[SUCCESSORS];
    struct exploring exploring = {program, ret, {keys, TABLE, 0}, stack, 0};
    struct truth_state state;
    memset(keys, 0, sizeof(keys));
    memset(ret, 0, sizeof(*ret));
    ret->complete = true;
    truth_state_init(&state, program);
    push(&exploring, &state);
    while (exploring.depth > 0) {
        state = stack[--exploring.depth];
        if (truth_over(&state, program)) {
            truth_verdicts(&state, program, ret);
        } else if (truth_enabled(&state, program) == 0) {
            rest(&exploring, &state);
        } else {
            uint32_t count = successors(&state, program, TRUTH_STEP_NS, next);
            for (uint32_t i = 0; i < count; i++) {
                push(&exploring, &next[i].state);
            }
        }
    }
    if (program->family == TRUTH_LOOPS && program->actor[0].ops[0].c != 0) {
        ret->possible |= BIT(LIVELOCK);
    }
    ret->states = exploring.seen.count;
}
