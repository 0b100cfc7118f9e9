/*
 * mutate.c -- mutation and crossover of inputs, decision by decision.
 *
 * libFuzzer changes bytes, and a byte in the wrong position changes the whole rest of the run. Here
 * an input is parsed into its answers, each at an occasion of a kind, and one of them is inserted,
 * removed, moved, changed, doubled, or exchanged with another, while all others stay in place. Two
 * inputs are crossed by taking some kinds of decisions from each, the beginning of one and the end
 * of the other, or the union. One time in four libFuzzer's own mutations of the bytes after the
 * first line are used. A valid first line is kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/sim/scenario/scenario.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second,
        size_t second_size, uint8_t *out, size_t out_max, unsigned seed);
/* libFuzzer's; not there without it. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max) __attribute__((weak));

/* ---- Chance. --------------------------------------------------------------------------------- */

static uint64_t chance;

static uint32_t
below(uint32_t n)
{
    chance += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = chance;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return (uint32_t)((x >> 32) * n >> 32);
}

/* 1 to 4 mostly, and rarely much more, up to `most`. */
static uint32_t
small(uint32_t most)
{
    uint32_t bits = below(8);
    uint32_t number = 1 + below(bits < 6 ? 4 : 1u << bits);
    return number < most ? number : most;
}

/* ---- Answers. -------------------------------------------------------------------------------- */

/* Puts `entry` in order among those of its kind, replacing one with its ordinal. */
static void
put_in(struct sim_tape *tape, struct sim_deviation entry)
{
    uint32_t at = 0;
    while (at < tape->count &&
            (tape->entries[at].kind != entry.kind || tape->entries[at].ordinal < entry.ordinal)) {
        at++;
    }
    if (at < tape->count && tape->entries[at].ordinal == entry.ordinal) {
        tape->entries[at] = entry;
        return;
    }
    if (tape->count == tape->capacity) {
        return;
    }
    memmove(&tape->entries[at + 1], &tape->entries[at],
            (tape->count - at) * sizeof(*tape->entries));
    tape->entries[at] = entry;
    tape->count++;
}

static struct sim_deviation
take_out(struct sim_tape *tape, uint32_t at)
{
    struct sim_deviation entry = tape->entries[at];
    tape->count--;
    memmove(&tape->entries[at], &tape->entries[at + 1],
            (tape->count - at) * sizeof(*tape->entries));
    return entry;
}

/* A random position on the tape, which is not empty; half of the time of `kind`, if possible. */
static uint32_t
somewhere(const struct sim_tape *tape, enum sim_kind kind)
{
    uint32_t at = below(tape->count);
    for (uint32_t i = 0; i < tape->count && below(2) == 0; i++) {
        uint32_t there = (at + i) % tape->count;
        if (tape->entries[there].kind == kind) {
            return there;
        }
    }
    return at;
}

/* The first occasion of `kind` after its last answer among the first `count`. */
static uint32_t
last_of(const struct sim_tape *tape, uint32_t count, uint8_t kind)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        next = tape->entries[i].kind == kind ? tape->entries[i].ordinal + 1 : next;
    }
    return next;
}

/* A kind of decision of the last run: uniform, or by frequency. */
static uint8_t
some_kind(void)
{
    uint32_t total = 0;
    for (uint32_t kind = 0; kind < SIM_KINDS; kind++) {
        total += scenario_asked[kind];
    }
    if (total == 0) {
        return (uint8_t)below(SIM_KINDS);
    }
    if (below(2) == 0) {
        uint8_t kind = (uint8_t)below(SIM_KINDS);
        return scenario_asked[kind] != 0 ? kind : SIM_KIND_RUN;
    }
    uint32_t at = below(total);
    uint8_t kind = 0;
    while (at >= scenario_asked[kind]) {
        at -= scenario_asked[kind++];
    }
    return kind;
}

/* ---- Changes of one input. ------------------------------------------------------------------- */

/* A random occasion in the run, or after the last answer of that kind: occasions answered with 0
 * were not varied yet. */
static void
add_one(struct sim_tape *tape)
{
    uint8_t kind = some_kind();
    uint32_t span = scenario_asked[kind] != 0 ? scenario_asked[kind] : 64;
    uint32_t after = last_of(tape, tape->count, kind);
    uint32_t ordinal = below(2) == 0 ? below(span) : after + small(64) - 1;
    put_in(tape,
            (struct sim_deviation){.kind = kind, .ordinal = ordinal, .index = (uint8_t)small(63)});
}

static void
change_one(struct sim_tape *tape)
{
    tape->entries[below(tape->count)].index = (uint8_t)small(63);
}

/* A fault before others. */
static void
move_one(struct sim_tape *tape)
{
    struct sim_deviation entry = take_out(tape, somewhere(tape, SIM_KIND_FAULT));
    uint32_t by = small(64);
    bool earlier = below(2) == 0;
    entry.ordinal = earlier ? entry.ordinal - (by < entry.ordinal ? by : entry.ordinal)
                            : entry.ordinal + by;
    put_in(tape, entry);
}

/* A spurious wake before others. */
static void
double_one(struct sim_tape *tape)
{
    struct sim_deviation entry = tape->entries[somewhere(tape, SIM_KIND_SPURIOUS)];
    entry.ordinal += small(64);
    put_in(tape, entry);
}

/* Swaps two answers, within a kind. */
static void
swap_two(struct sim_tape *tape)
{
    uint32_t a = below(tape->count);
    uint32_t b = a;
    do {
        b = (b + 1) % tape->count;
    } while (tape->entries[b].kind != tape->entries[a].kind || (b != a && below(2) == 0));
    uint8_t index = tape->entries[a].index;
    tape->entries[a].index = tape->entries[b].index;
    tape->entries[b].index = index;
}

/* From some answer on, all of its kind are one occasion or more later, or earlier. */
static void
shift_rest(struct sim_tape *tape)
{
    uint32_t at = below(tape->count);
    uint8_t kind = tape->entries[at].kind;
    uint32_t floor = 0;
    for (uint32_t i = 0; i < at; i++) {
        floor = tape->entries[i].kind == kind ? tape->entries[i].ordinal + 1 : floor;
    }
    uint32_t gap = tape->entries[at].ordinal - floor;
    uint32_t by = small(16);
    uint32_t step = below(2) == 0 ? by : 0u - (by < gap ? by : gap);
    for (uint32_t i = at; i < tape->count; i++) {
        tape->entries[i].ordinal += tape->entries[i].kind == kind ? step : 0;
    }
}

/* The run is the baseline from some point on. */
static void
cut(struct sim_tape *tape)
{
    tape->count -= 1 + below(tape->count < 8 ? tape->count : tape->count / 2);
}

static void
change(struct sim_tape *tape)
{
    static void (*const changes[])(struct sim_tape *) = {
            change_one, change_one, move_one, move_one, double_one, swap_two, shift_rest, cut};
    uint32_t what = below(16);
    if (tape->count == 0 || what >= 9) {
        add_one(tape);
    } else if (what == 8) {
        (void)take_out(tape, below(tape->count));
    } else {
        changes[what](tape);
    }
}

/* ---- Two inputs. ----------------------------------------------------------------------------- */

/* The beginning of `tape` up to some answer, and the later answers of `other`. */
static void
splice(struct sim_tape *tape, const struct sim_tape *other)
{
    uint32_t count = tape->count > 0 ? below(tape->count + 1) : 0;
    uint32_t next[SIM_KINDS];
    for (uint8_t kind = 0; kind < SIM_KINDS; kind++) {
        next[kind] = last_of(tape, count, kind);
    }
    tape->count = count;
    for (uint32_t i = 0; i < other->count; i++) {
        if (other->entries[i].ordinal >= next[other->entries[i].kind]) {
            put_in(tape, other->entries[i]);
        }
    }
}

/* Some kinds of decisions from `other` instead. */
static void
exchange_kinds(struct sim_tape *tape, const struct sim_tape *other)
{
    uint32_t mask = 1 + below((1u << SIM_KINDS) - 1);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tape->count; i++) {
        if ((mask >> tape->entries[i].kind & 1) == 0) {
            tape->entries[kept++] = tape->entries[i];
        }
    }
    tape->count = kept;
    for (uint32_t i = 0; i < other->count; i++) {
        if ((mask >> other->entries[i].kind & 1) != 0) {
            put_in(tape, other->entries[i]);
        }
    }
}

/* The union of both. */
static void
unite(struct sim_tape *tape, const struct sim_tape *other)
{
    for (uint32_t i = 0; i < other->count; i++) {
        put_in(tape, other->entries[i]);
    }
}

/* ---- For libFuzzer. -------------------------------------------------------------------------- */

/* Working memory: an input at a time, and a second one to be crossed with. */
static struct sim_deviation entries[2][SCENARIO_ANSWERS];

/* Returns the length of the line of `data` if that is valid. Else puts only a valid one there. */
static size_t
keep_line(uint8_t *data, size_t *size, size_t size_max)
{
    struct sim_artifact artifact;
    bool good = scenario_takes(data, *size, &artifact);
    if (good && (below(512) != 0)) {
        return *size - artifact.size;
    }
    const char *line = scenario_line(below(UINT32_MAX));
    size_t length = strlen(line);
    size_t rest = good ? artifact.size : 0;
    if (length > size_max) {
        *size = 0;
        return 0;
    }
    rest = rest < size_max - length ? rest : size_max - length;
    memmove(data + length, data + *size - rest, rest);
    memcpy(data, line, length);
    *size = length + rest;
    return length;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
    struct sim_tape tape = {entries[0], 0, SCENARIO_ANSWERS};
    scenario_init();
    chance = seed;
    size_t line = keep_line(data, &size, size_max);
    if (below(4) == 0 && LLVMFuzzerMutate != NULL && size_max > line) {
        return line + LLVMFuzzerMutate(data + line, size - line, size_max - line);
    }
    sim_answers_read(&tape, data + line, size - line);
    do {
        change(&tape);
    } while (below(3) != 0);
    return line + sim_answers_write(&tape, data + line, size_max - line);
}

size_t
LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second,
        size_t second_size, uint8_t *out, size_t out_max, unsigned seed)
{
    static void (*const crossings[])(struct sim_tape *, const struct sim_tape *) = {
            splice, exchange_kinds, unite};
    struct sim_tape tape = {entries[0], 0, SCENARIO_ANSWERS};
    struct sim_tape other = {entries[1], 0, SCENARIO_ANSWERS};
    struct sim_artifact a;
    struct sim_artifact b;
    scenario_init();
    chance = seed;
    if (!scenario_takes(first, first_size, &a) || !scenario_takes(second, second_size, &b) ||
            first_size - a.size > out_max) {
        return 0;
    }
    sim_answers_read(&tape, a.bytes, a.size);
    sim_answers_read(&other, b.bytes, b.size);
    crossings[below(3)](&tape, &other);
    size_t line = first_size - a.size;
    memcpy(out, first, line);
    return line + sim_answers_write(&tape, out + line, out_max - line);
}
