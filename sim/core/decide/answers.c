/*
 * answers.c -- reading, playing and writing a fuzzer's bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/decide/answers.h"

#include "runtime/base/assert.h"

/* The occasions answered 0 that one answer can bridge. */
#define PLAIN_MAX 255u
#define KIND_MASK 15u

_Static_assert(SIM_KINDS <= KIND_MASK + 1, "a kind is half a byte of an input");

/* Answers have no n, and may exceed it. */
static bool
append(struct sim_tape *tape, const struct sim_deviation *entry)
{
    if (tape->count == tape->capacity) {
        return false;
    }
    tape->entries[tape->count++] = *entry;
    return true;
}

/* ---- Bytes to answers. ----------------------------------------------------------------------- */

void
sim_answers_read(struct sim_tape *tape, const uint8_t *bytes, size_t size)
{
    uint32_t ordinals[SIM_KINDS] = {0};
    tape->count = 0;
    for (uint32_t i = 0; i < sim_answers_in(size); i++) {
        const uint8_t *answer = bytes + (size_t)i * SIM_ANSWER_SIZE;
        uint8_t kind = answer[0] & KIND_MASK;
        if (kind >= SIM_KINDS) {
            continue;
        }
        uint32_t ordinal = ordinals[kind] + answer[1];
        ordinals[kind] = ordinal + 1;
        const struct sim_deviation entry = {.ordinal = ordinal, .kind = kind, .index = answer[2]};
        if (entry.index != 0 && !append(tape, &entry)) {
            return;
        }
    }
}

/* ---- Answers to bytes. ----------------------------------------------------------------------- */

/* One answer; 0 when it does not fit. */
static size_t
put(uint8_t *bytes, size_t left, uint8_t kind, uint32_t plain, uint8_t index)
{
    rt_assert(plain <= PLAIN_MAX);
    if (left < SIM_ANSWER_SIZE) {
        return 0;
    }
    bytes[0] = kind;
    bytes[1] = (uint8_t)plain;
    bytes[2] = index;
    return SIM_ANSWER_SIZE;
}

size_t
sim_answers_write(const struct sim_tape *tape, uint8_t *bytes, size_t capacity)
{
    uint32_t ordinals[SIM_KINDS] = {0};
    size_t used = 0;
    for (uint32_t i = 0; i < tape->count; i++) {
        const struct sim_deviation *entry = &tape->entries[i];
        size_t before = used;
        size_t put_now = SIM_ANSWER_SIZE;
        rt_assert(entry->kind < SIM_KINDS);
        rt_assert(entry->ordinal >= ordinals[entry->kind]);
        uint32_t plain = entry->ordinal - ordinals[entry->kind];
        for (; plain > PLAIN_MAX && put_now > 0; plain -= PLAIN_MAX + 1) {
            put_now = put(bytes + used, capacity - used, entry->kind, PLAIN_MAX, 0);
            used += put_now;
        }
        put_now = put_now > 0 ? put(bytes + used, capacity - used, entry->kind, plain, entry->index)
                              : 0;
        if (put_now == 0) {
            return before;
        }
        used += put_now;
        ordinals[entry->kind] = entry->ordinal + 1;
    }
    return used;
}

/* ---- Playing. -------------------------------------------------------------------------------- */

/* The first answer about `kind` at or after `from`. */
static uint32_t
next_of(const struct sim_tape *tape, uint32_t kind, uint32_t from)
{
    while (from < tape->count && tape->entries[from].kind != kind) {
        from++;
    }
    return from;
}

static void
answers_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct sim_answers *answers = (struct sim_answers *)(void *)strategy;
    (void)seed;
    for (uint32_t kind = 0; kind < SIM_KINDS; kind++) {
        answers->asked[kind] = 0;
        answers->next[kind] = next_of(answers->tape, kind, 0);
    }
}

static uint32_t
answers_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct sim_answers *answers = (struct sim_answers *)(void *)strategy;
    uint32_t kind = (uint32_t)choice->kind;
    uint32_t at = answers->asked[kind]++;
    uint32_t next = answers->next[kind];
    if (next == answers->tape->count || answers->tape->entries[next].ordinal != at) {
        return 0;
    }
    answers->next[kind] = next_of(answers->tape, kind, next + 1);
    return answers->tape->entries[next].index % choice->n;
}

static const struct sim_strategy_ops answers_ops = {
        .repeats = true,
        .begin = answers_begin,
        .choose = answers_choose,
};

void
sim_answers_init(struct sim_answers *answers, const struct sim_tape *tape)
{
    rt_assert(tape != NULL);
    *answers = (struct sim_answers){.strategy = {&answers_ops}, .tape = tape};
}

/* ---- Recording. ------------------------------------------------------------------------------ */

static struct sim_decision_log *
decision_log_of(struct sim_strategy *strategy)
{
    return (struct sim_decision_log *)(void *)strategy;
}

static void
decision_log_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct sim_decision_log *decision_log = decision_log_of(strategy);
    decision_log->tape.count = 0;
    decision_log->full = false;
    for (uint32_t kind = 0; kind < SIM_KINDS; kind++) {
        decision_log->asked[kind] = 0;
    }
    decision_log->maker = sim_strategy_begin(decision_log->inner, seed);
}

static uint32_t
decision_log_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct sim_decision_log *decision_log = decision_log_of(strategy);
    uint32_t index = decision_log->maker->ops->choose(decision_log->maker, choice);
    rt_assert(index < choice->n);
    const struct sim_deviation entry = {.ordinal = decision_log->asked[choice->kind]++,
            .kind = (uint8_t)choice->kind,
            .index = (uint8_t)index};
    if (index != 0 && !append(&decision_log->tape, &entry)) {
        decision_log->full = true;
    }
    return index;
}

static void
decision_log_events(struct sim_strategy *strategy, const struct sim_event *events, uint32_t count)
{
    struct sim_strategy *maker = decision_log_of(strategy)->maker;
    if (maker->ops->events != NULL) {
        maker->ops->events(maker, events, count);
    }
}

static void
decision_log_end(struct sim_strategy *strategy, const struct sim_outcome *outcome)
{
    struct sim_strategy *maker = decision_log_of(strategy)->maker;
    if (maker->ops->end != NULL) {
        maker->ops->end(maker, outcome);
    }
}

static const struct sim_strategy_ops decision_log_ops = {
        .repeats = true,
        .begin = decision_log_begin,
        .choose = decision_log_choose,
        .events = decision_log_events,
        .end = decision_log_end,
};

void
sim_decision_log_init(
        struct sim_decision_log *decision_log, struct sim_strategy *inner, struct sim_tape tape)
{
    rt_assert(inner != NULL);
    *decision_log = (struct sim_decision_log){
            .strategy = {&decision_log_ops}, .inner = inner, .tape = tape};
}
