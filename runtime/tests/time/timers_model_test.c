/*
 * timers_model_test.c -- the timer wheel against a model that cannot be wrong.
 *
 * The model is an array without any structure: what is due is found by checking
 * every timer, what is next as well. Both live through the same random history of
 * starts, cancels, moves and jumps of every size; after each step they must agree
 * on what was fired, in which order, on the next deadline, and on the calls of
 * the listener. Wakers take part: from inside the firing they start, move
 * and cancel.
 *
 * Wheels of 4 and 8 slots are the point: their borders are met at every step.
 *
 * Holds M1, M3, M4, M5, M6, M7, M8, M9, M10, M11, M12.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/test.h"
#include "runtime/tests/time/alarm.h"

#define ALARMS 24u
#define STEPS 400u

/* As EXPECT, but prints the position in the history, and costs nothing when it passes: Check would
 * make a system call each time. */
#define AGREE(condition) \
    do { \
        if (!(condition)) { \
            ck_abort_msg("history %u, step %u: no agreement: %s", history.number, history.step, \
                    #condition); \
        } \
    } while (0)

/* A timer as the model knows it. */
struct line {
    bool armed;
    bool due; /* Found due by the call that is under way. */
    uint64_t deadline_ns;
    uint64_t start_order;
};

struct history {
    struct alarm_bench bench;
    struct alarm alarms[ALARMS];
    struct line lines[ALARMS];
    uint64_t tick_ns;
    uint64_t now_ns;  /* Never goes back; the clock that is passed in may. */
    uint64_t started; /* Start orders given. */
    uint32_t fired;   /* By the call under way. */
    uint32_t meddled; /* Actions left to wakers, so that a history ends. */
    uint32_t reports; /* Calls that the listener must have seen. */
    uint64_t random;
    uint32_t number;
    uint32_t step;
};

static struct history history;

/* SplitMix64. */
static uint64_t
draw(void)
{
    uint64_t z = (history.random += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint32_t
below(uint32_t bound)
{
    return (uint32_t)(draw() % bound);
}

/* A length of any size: each power of two is as likely. `size` is the largest. */
static uint64_t
draw_length(uint32_t size)
{
    uint32_t exponent = below(size + 1);
    return exponent == 0 ? 0 : draw() >> (64 - exponent);
}

static uint64_t
saturating_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Rounded up to a tick, counted the slow way. */
static uint64_t
model_round(uint64_t deadline_ns)
{
    uint64_t ticks = deadline_ns / history.tick_ns;
    uint64_t rounded = ticks * history.tick_ns;
    if (rounded == deadline_ns) {
        return deadline_ns;
    }
    return rounded > UINT64_MAX - history.tick_ns ? UINT64_MAX : rounded + history.tick_ns;
}

static uint64_t
model_next(void)
{
    uint64_t next_ns = UINT64_MAX;
    for (uint32_t i = 0; i < ALARMS; i++) {
        const struct line *line = &history.lines[i];
        if (line->armed && line->deadline_ns < next_ns) {
            next_ns = line->deadline_ns;
        }
    }
    return next_ns;
}

/* Which one must be fired now, or ALARMS. */
static uint32_t
model_first_due(void)
{
    uint32_t first = ALARMS;
    for (uint32_t i = 0; i < ALARMS; i++) {
        const struct line *line = &history.lines[i];
        const struct line *best = &history.lines[first % ALARMS];
        if (line->due && (first == ALARMS || line->deadline_ns < best->deadline_ns ||
                                 (line->deadline_ns == best->deadline_ns &&
                                         line->start_order < best->start_order))) {
            first = i;
        }
    }
    return first;
}

static void
model_collect(void)
{
    for (uint32_t i = 0; i < ALARMS; i++) {
        struct line *line = &history.lines[i];
        line->due = line->armed && line->deadline_ns <= history.now_ns &&
                    line->deadline_ns != UINT64_MAX;
    }
}

/* After a start or a cancel: both agree on what is next, and on whether it changed. */
static void
check_next(uint64_t before_ns)
{
    uint64_t next_ns = model_next();
    AGREE(rt_timers_next(&history.bench.timers) == next_ns);
    if (next_ns != before_ns) {
        history.reports += 1;
        AGREE(history.bench.reported_ns == next_ns);
    }
    AGREE(history.bench.reports == history.reports);
}

static void
start(uint32_t i, uint64_t deadline_ns)
{
    uint64_t before_ns = model_next();
    history.lines[i] = (struct line){true, false, model_round(deadline_ns), history.started};
    history.started += 1;
    alarm_start(&history.alarms[i], deadline_ns);
    check_next(before_ns);
}

static void
cancel(uint32_t i)
{
    uint64_t before_ns = model_next();
    bool armed = history.lines[i].armed;
    history.lines[i].armed = false;
    history.lines[i].due = false;
    AGREE(alarm_cancel(&history.alarms[i]) == armed);
    check_next(before_ns);
}

/* Any distance, the past, the very same as another's, and the ends of the clock. */
static uint64_t
draw_deadline(uint32_t size)
{
    switch (below(8)) {
    case 0:
        return history.now_ns - draw_length(size) % (history.now_ns + (history.now_ns == 0));
    case 1:
        return history.lines[below(ALARMS)].deadline_ns;
    case 2:
        return below(16) == 0 ? UINT64_MAX - below(4) : history.now_ns;
    default:
        return saturating_add(history.now_ns, draw_length(size));
    }
}

static void
meddle(uint32_t size)
{
    uint32_t i = below(ALARMS);
    if (below(3) == 0) {
        cancel(i);
    } else {
        start(i, draw_deadline(size));
    }
}

static uint32_t
alarm_index(const struct alarm *alarm)
{
    return (uint32_t)(alarm - history.alarms);
}

/* Each wake: it must be this one's turn. Then the waker meddles. */
static void
on_wake(struct alarm *alarm)
{
    uint32_t i = alarm_index(alarm);
    AGREE(i == model_first_due());
    history.lines[i].armed = false;
    history.lines[i].due = false;
    history.fired += 1;
    AGREE(rt_timers_next(&history.bench.timers) == model_next());
    while (history.meddled > 0 && below(2) == 0) {
        history.meddled -= 1;
        meddle(10);
    }
}

/* Jumps of any size, to the next deadline, just before and after it, and backwards. */
static uint64_t
draw_now(uint32_t size)
{
    uint64_t next_ns = model_next();
    switch (below(8)) {
    case 0:
        return next_ns != UINT64_MAX ? next_ns : history.now_ns;
    case 1:
        return next_ns != UINT64_MAX ? next_ns - (next_ns != 0) : history.now_ns;
    case 2:
        return next_ns != UINT64_MAX ? saturating_add(next_ns, 1) : history.now_ns;
    case 3:
        return history.now_ns - history.now_ns % (draw_length(size) + 1); /* Back. */
    default:
        return saturating_add(history.now_ns, draw_length(size));
    }
}

static void
process(uint32_t size)
{
    uint64_t now_ns = draw_now(size);
    history.now_ns = now_ns > history.now_ns ? now_ns : history.now_ns;
    history.fired = 0;
    history.meddled = 4;
    model_collect();
    uint32_t fired = alarm_process(&history.bench, now_ns);
    AGREE(fired == history.fired);
    AGREE(model_first_due() == ALARMS);
    AGREE(rt_timers_next(&history.bench.timers) == model_next());
    AGREE(history.bench.reports == history.reports);
}

static void
finish(void)
{
    for (uint32_t i = 0; i < ALARMS; i++) {
        cancel(i);
        AGREE(history.alarms[i].held == 0);
    }
    rt_timers_fini(&history.bench.timers);
}

/* One history. `size` bounds jumps and distances: with a small one they coincide more often. */
static void
live(uint32_t levels, uint32_t bits, uint32_t number)
{
    static const uint64_t ticks[] = {1, 1, 7, 1000};
    history = (struct history){.random = UINT64_C(0x7265776b) + number, .number = number};
    uint32_t size = 3 + below(62);
    history.tick_ns = ticks[below(4)];
    history.now_ns = below(4) == 0 ? UINT64_MAX - draw_length(size) : draw_length(size);
    alarm_bench_init(&history.bench, levels, bits, history.tick_ns, history.now_ns);
    for (uint32_t i = 0; i < ALARMS; i++) {
        alarm_init(&history.alarms[i], &history.bench, (char)('a' + (int)i));
        history.alarms[i].then = on_wake;
    }
    for (history.step = 0; history.step < STEPS; history.step++) {
        if (below(3) == 0) {
            process(size);
        } else {
            meddle(size);
        }
    }
    finish();
}

static void
live_often(uint32_t levels, uint32_t bits, uint32_t histories)
{
    for (uint32_t i = 0; i < histories; i++) {
        live(levels, bits, i);
    }
}

/* Holds M3, M8, M9, M10. */
TEST(timers_of_2_levels_of_4_do_what_the_model_does)
{
    live_often(2, 2, 400);
}

TEST(timers_of_3_levels_of_4_do_what_the_model_does)
{
    live_often(3, 2, 400);
}

TEST(timers_of_6_levels_of_64_do_what_the_model_does)
{
    live_often(6, 6, 400);
}

TEST(timers_of_the_whole_clock_do_what_the_model_does)
{
    live_often(11, 6, 200);
}

TEST(timers_of_one_level_do_what_the_model_does)
{
    live_often(1, 1, 100);
    live_often(1, 3, 100);
}
