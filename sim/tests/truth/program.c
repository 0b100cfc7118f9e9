/*
 * program.c -- the generator: pairs of operations that belong together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/truth/program_priv.h"

#include <stdio.h>
#include <string.h>

uint32_t
truth_draw(uint64_t *state, uint32_t n)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((x ^ (x >> 31)) % n);
}

uint32_t
truth__draw(struct truth__maker *maker, uint32_t n)
{
    return truth_draw(&maker->state, n);
}

/* ---- Adding operations. ---------------------------------------------------------------------- */

static void
add(struct truth__maker *maker, uint32_t actor, enum truth_op_kind kind, uint32_t a, uint32_t b,
        uint32_t c)
{
    struct truth_actor *to = &maker->program->actor[actor];
    to->ops[to->count++] = (struct truth_op){(uint8_t)kind, (uint8_t)a, (uint8_t)b, (uint8_t)c};
}

static bool
has_space(const struct truth__maker *maker, uint32_t actor)
{
    /* With a pause a pair takes at most six of one actor, a mutation two more. */
    return maker->program->actor[actor].count + 8u <= TRUTH_OPS &&
           (maker->ended >> actor & 1u) == 0;
}

/* Two actors that differ and have space. */
static bool
draw_two(struct truth__maker *maker, uint32_t *ret_from, uint32_t *ret_to)
{
    uint32_t n = maker->program->actors;
    *ret_from = truth__draw(maker, n);
    *ret_to = (*ret_from + 1 + truth__draw(maker, n - 1)) % n;
    return has_space(maker, *ret_from) && has_space(maker, *ret_to);
}

static void
add_pause(struct truth__maker *maker, uint32_t actor)
{
    switch (truth__draw(maker, 6)) {
    case 0:
        add(maker, actor, TRUTH_YIELD, 0, 0, 0);
        break;
    case 1:
        add(maker, actor, TRUTH_SLEEP, 1 + truth__draw(maker, 5), 0, 0);
        break;
    default:
        break;
    }
}

static void
add_signal(struct truth__maker *maker, uint32_t from, uint32_t flag, uint32_t slot)
{
    add(maker, from, TRUTH_SET, flag, 0, 0);
    add(maker, from, TRUTH_WAKE, slot, 0, 0);
}

/* ---- Pairs. ---------------------------------------------------------------------------------- */

static void
pair_flag(struct truth__maker *maker, uint32_t from, uint32_t to)
{
    if (maker->flags == TRUTH_FLAGS || maker->slots == TRUTH_SLOTS) {
        return;
    }
    uint32_t flag = maker->flags++;
    uint32_t slot = maker->slots++;
    add_signal(maker, from, flag, slot);
    switch (truth__draw(maker, 6)) {
    case 0:
        add(maker, to, TRUTH_TAKE, flag, slot, 0);
        break;
    case 1:
        add(maker, to, TRUTH_WAIT_TIME, flag, slot, 1 + truth__draw(maker, 6));
        break;
    case 2:
        add(maker, to, TRUTH_WAIT_LOCKED, flag, slot, TRUTH_NONE);
        break;
    case 3:
        add(maker, to, TRUTH_WAIT_LINES, flag, slot, TRUTH_NONE);
        break;
    default:
        add(maker, to, TRUTH_WAIT, flag, slot, TRUTH_NONE);
        break;
    }
}

/* Two of one counter. */
static void
pair_count(struct truth__maker *maker, uint32_t from, uint32_t to)
{
    if (maker->flags == TRUTH_FLAGS || maker->slots == TRUTH_SLOTS) {
        return;
    }
    uint32_t flag = maker->flags++;
    uint32_t slot = maker->slots++;
    for (uint32_t i = 0; i < 2; i++) {
        add_signal(maker, from, flag, slot);
        add(maker, to, TRUTH_TAKE, flag, slot, 0);
    }
}

/* Several items over a channel that is this pair's alone. */
static void
pair_channel(struct truth__maker *maker, uint32_t from, uint32_t to)
{
    if (maker->channels == TRUTH_CHANNELS) {
        return;
    }
    uint32_t channel = maker->channels++;
    uint32_t items = 1 + truth__draw(maker, 3);
    for (uint32_t i = 0; i < items; i++) {
        add(maker, from, TRUTH_SEND, channel, 0, 0);
        add(maker, to, TRUTH_RECV, channel, 0, 0);
    }
}

/* Either of two flags, of which only one need be set. The slots have the flags' numbers. */
static void
pair_any(struct truth__maker *maker, uint32_t from, uint32_t to)
{
    if (maker->flags != maker->slots || maker->flags + 2u > TRUTH_FLAGS) {
        return;
    }
    uint32_t flag = maker->flags;
    maker->flags += 2;
    maker->slots += 2;
    uint32_t which = truth__draw(maker, 2);
    add_signal(maker, from, flag + which, flag + which);
    add(maker, to, TRUTH_WAIT_ANY, flag, flag + 1, 0);
}

/*
 * Two tasks wait for one flag with one shared slot, in which the last one displaces the other; both
 * have separate slots too, and the first that sees the flag wakes the other.
 */
static void
pair_shared(struct truth__maker *maker, uint32_t from, uint32_t to)
{
    uint32_t other = 0;
    while (other == from || other == to) {
        other++;
    }
    if (maker->program->actors < 3 || !has_space(maker, other) || maker->flags == TRUTH_FLAGS ||
            maker->slots + 3u > TRUTH_SLOTS) {
        return;
    }
    uint32_t flag = maker->flags++;
    uint32_t slot = maker->slots;
    maker->slots += 3;
    add_signal(maker, from, flag, slot);
    add(maker, to, TRUTH_WAIT, flag, slot, slot + 1);
    add(maker, to, TRUTH_WAKE, slot + 2, 0, 0);
    add(maker, other, TRUTH_WAIT, flag, slot, slot + 2);
    add(maker, other, TRUTH_WAKE, slot + 1, 0, 0);
}

static void
pair_join(struct truth__maker *maker, uint32_t from, uint32_t to)
{
    maker->ended |= (uint8_t)(1u << from);
    add(maker, to, TRUTH_JOIN, from, 0, 0);
}

/* Both take the permit, keep it for a while, and give it back. */
static void
pair_permit(struct truth__maker *maker, uint32_t from, uint32_t to)
{
    const uint32_t both[] = {from, to};
    for (uint32_t i = 0; i < 2; i++) {
        add(maker, both[i], TRUTH_ACQUIRE, 0, 0, 0);
        add_pause(maker, both[i]);
        add(maker, both[i], TRUTH_RELEASE, 0, 0, 0);
    }
}

/* A flag with two slots, of which a poll uses one and the next poll the other. */
static void
pair_turn(struct truth__maker *maker, uint32_t from, uint32_t to)
{
    if (maker->flags == TRUTH_FLAGS || maker->slots + 2u > TRUTH_SLOTS) {
        return;
    }
    uint32_t flag = maker->flags++;
    uint32_t slot = maker->slots;
    maker->slots += 2;
    add_signal(maker, from, flag, slot);
    add(maker, from, TRUTH_WAKE, slot + 1, 0, 0);
    add(maker, to, TRUTH_WAIT_TURN, flag, slot, slot + 1);
}

/*
 * `to` asks one replica at its first poll and the other one at the next; `from` and a third actor
 * answer after a while. A poll for nothing then sets something going, but nothing was late: so its
 * waits must not report progress.
 */
static void
pair_hedge(struct truth__maker *maker, uint32_t from, uint32_t to)
{
    uint32_t third = 0;
    while (third == from || third == to) {
        third++;
    }
    if (maker->program->actors < 3 || maker->program->reports || !has_space(maker, third) ||
            maker->flags != maker->slots || maker->flags + 3u > TRUTH_FLAGS) {
        return;
    }
    uint32_t done = maker->flags;
    maker->flags += 3;
    maker->slots += 3;
    const uint32_t replicas[] = {from, third};
    for (uint32_t i = 0; i < 2; i++) {
        add(maker, replicas[i], TRUTH_WAIT, done + 1 + i, done + 1 + i, TRUTH_NONE);
        add(maker, replicas[i], TRUTH_SLEEP, i == 0 ? 5 : 1, 0, 0);
        add_signal(maker, replicas[i], done, done);
    }
    add(maker, to, TRUTH_HEDGE, done, done, done + 1);
    add_signal(maker, to, done + 1, done + 1);
    add_signal(maker, to, done + 2, done + 2);
}

/* `from` waits for what never happens and is cancelled by `to`; its cleanup wakes `to`. */
static void
pair_cancel(struct truth__maker *maker, uint32_t from, uint32_t to)
{
    if (maker->flags + 3u > TRUTH_FLAGS || maker->slots + 3u > TRUTH_SLOTS) {
        return;
    }
    uint32_t flag = maker->flags;
    uint32_t slot = maker->slots;
    maker->flags += 3;
    maker->slots += 3;
    struct truth_actor *victim = &maker->program->actor[from];
    add_signal(maker, from, flag, slot);
    add(maker, from, TRUTH_WAIT, flag + 1, slot + 1, TRUTH_NONE);
    victim->cleanup[0] = (struct truth_op){TRUTH_SET, (uint8_t)(flag + 2), 0, 0};
    victim->cleanup[1] = (struct truth_op){TRUTH_WAKE, (uint8_t)(slot + 2), 0, 0};
    victim->cleanups = 2;
    maker->ended |= (uint8_t)(1u << from);
    add(maker, to, TRUTH_WAIT, flag, slot, TRUTH_NONE);
    add(maker, to, TRUTH_CANCEL, from, 0, 0);
    add(maker, to, TRUTH_WAIT, flag + 2, slot + 2, TRUTH_NONE);
}

static void
add_pair(struct truth__maker *maker)
{
    static void (*const pairs[])(struct truth__maker *, uint32_t, uint32_t) = {pair_flag, pair_flag,
            pair_flag, pair_count, pair_channel, pair_channel, pair_any, pair_turn, pair_shared,
            pair_shared, pair_join, pair_cancel, pair_permit, pair_hedge};
    uint32_t from;
    uint32_t to;
    if (!draw_two(maker, &from, &to)) {
        return;
    }
    add_pause(maker, from);
    add_pause(maker, to);
    if (has_space(maker, from) && has_space(maker, to)) {
        pairs[truth__draw(maker, sizeof(pairs) / sizeof(*pairs))](maker, from, to);
    }
}

/* ---- Loops. ---------------------------------------------------------------------------------- */

/* Actor 0 listens: an event of descriptor a drains it and checks flag a. Others set and notify. */
static void
make_loops(struct truth__maker *maker)
{
    struct truth_program *program = maker->program;
    uint32_t total = 0;
    for (uint32_t i = 1; i < program->actors; i++) {
        uint32_t spawns = 1 + truth__draw(maker, 2);
        for (uint32_t k = 0; k < spawns; k++) {
            uint32_t fd = truth__draw(maker, TRUTH_FDS);
            add_pause(maker, i);
            add(maker, i, TRUTH_SET, fd, 0, 0);
            add(maker, i, TRUTH_NOTIFY, fd, 0, 0);
            total++;
        }
    }
    uint32_t timeout = truth__draw(maker, 4) == 0 ? 2 + truth__draw(maker, 6) : 0;
    add(maker, 0, TRUTH_LISTEN, 0, total, timeout);
    for (uint32_t fd = 0; fd < TRUTH_FDS; fd++) {
        add(maker, 0, TRUTH_DRAIN, fd, 0, 0);
        add(maker, 0, TRUTH_CHECK, fd, 0, 0);
    }
}

/* ---- A program. ----------------------------------------------------------------------------- */

void
truth_program_make(struct truth_program *program, uint64_t number)
{
    memset(program, 0, sizeof(*program));
    struct truth__maker maker = {
            .program = program, .state = number * UINT64_C(0xd1342543de82ef95) + 1};
    program->number = number;
    program->family = truth__draw(&maker, 5) == 0 ? TRUTH_LOOPS : TRUTH_TASKS;
    program->actors = (uint8_t)(2 + truth__draw(&maker, TRUTH_ACTORS - 1));
    program->reports = truth__draw(&maker, 2) == 0;
    program->watched = truth__draw(&maker, 2) == 0 && program->family == TRUTH_LOOPS;
    for (uint32_t i = 0; i < TRUTH_CHANNELS; i++) {
        program->capacity[i] = (uint8_t)(1 + truth__draw(&maker, 2));
    }
    if (program->family == TRUTH_LOOPS) {
        make_loops(&maker);
    } else {
        uint32_t pairs = 1 + truth__draw(&maker, 5);
        for (uint32_t i = 0; i < pairs; i++) {
            add_pair(&maker);
        }
    }
    program->mutation =
            (uint8_t)(truth__draw(&maker, 3) == 0 ? 0 : truth__draw(&maker, TRUTH_MUTATION_SHRUNK));
    if (program->family == TRUTH_LOOPS) {
        truth__mutate_loop(&maker, program->mutation);
    } else if (program->mutation != TRUTH_MUTATION_NOTHING) {
        truth__mutate_task(&maker, program->mutation);
    }
}

/* ---- As text. -------------------------------------------------------------------------------- */

const char *
truth_mutation_about(uint32_t mutation)
{
#define TRUTH_ABOUT(name, about) about,
    static const char *const abouts[] = {TRUTH_MUTATION_LIST(TRUTH_ABOUT)};
#undef TRUTH_ABOUT
    return mutation < TRUTH_MUTATIONS ? abouts[mutation] : "?";
}

static int
op_text(const struct truth_op *op, char *text, size_t size)
{
#define TRUTH_WORD(name, word, about) word,
    static const char *const words[] = {TRUTH_OP_LIST(TRUTH_WORD)};
#undef TRUTH_WORD
    return snprintf(text, size, " %s %u,%u,%u;", words[op->kind], op->a, op->b, op->c);
}

void
truth_program_text(const struct truth_program *program, char *text, size_t size)
{
    int at = snprintf(text, size, "program %llu: %s%s%s\n", (unsigned long long)program->number,
            truth_mutation_about(program->mutation), program->reports ? ", reports" : "",
            program->watched ? ", watched" : "");
    for (uint32_t i = 0; i < program->actors; i++) {
        const struct truth_actor *actor = &program->actor[i];
        at += snprintf(text + at, size - (size_t)at, "  t%u:", i);
        for (uint32_t k = 0; k < actor->count; k++) {
            at += op_text(&actor->ops[k], text + at, size - (size_t)at);
        }
        for (uint32_t k = 0; k < actor->cleanups; k++) {
            at += snprintf(text + at, size - (size_t)at, k == 0 ? " | cancelled:" : "");
            at += op_text(&actor->cleanup[k], text + at, size - (size_t)at);
        }
        at += snprintf(text + at, size - (size_t)at, "\n");
    }
}
