/*
 * timers.c -- the timer wheel against a sorted list.
 *
 * Wheels of 2 or 4 slots a level are usual, so their borders are crossed at every step, and the
 * clock starts anywhere, also close to its end. A clock that is set back must change nothing (M11).
 * Wakers, and the listener for the earliest deadline, start, move, cancel and fire timers from
 * inside (M6, M7, M10, M12).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/time/timers.h"
#include "fuzz/fuzz.h"

FUZZ_UNSEEN_BEGIN
#include "runtime/task/executor.h"

#define TIMERS 7u
#define DEPTH_MAX 4u

/* A timer as the model knows it. */
struct line {
    uint64_t deadline_ns;
    bool armed;
    bool due; /* Found by the call in progress, and not fired yet. */
};

struct bench {
    struct rt_timers timers;
    struct rt_timer timer[TIMERS];
    struct rt_executor executor; /* For the context that stores a waker. */
    struct rt_slab_entry entries[1];
    struct rt_sched_link links[1];
    struct rt_task task;
    struct fuzz_tape *tape;

    struct line lines[TIMERS];
    uint32_t order[TIMERS]; /* The armed ones, in the order of expiry. */
    uint32_t armed;
    uint64_t now_ns; /* The latest that was passed in. */
    uint64_t tick_ns;
    uint32_t bits;
    uint32_t fired; /* By the call in progress. */
    uint32_t held;  /* Wakers in slots. */
    uint32_t depth; /* Of calls from inside calls. */
    bool listens;
    bool must_notify; /* The listener must be called before this call ends. */
};

static struct bench bench;
static struct rt_list *slots[RT_TIMERS_SLOTS(RT_TIMERS_LEVELS_MAX, 6)];

static void operate(void);

/* ---- The model: a list in the order of deadlines, equal ones in the order of their starts. --- */

static uint64_t
model_next(void)
{
    return bench.armed == 0 ? RT_NEVER : bench.lines[bench.order[0]].deadline_ns;
}

static uint64_t
add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t
model_round(uint64_t deadline_ns)
{
    if (bench.tick_ns == 1) { /* Half of all inputs, and a division is as long as an operation. */
        return deadline_ns;
    }
    uint64_t beyond_ns = deadline_ns % bench.tick_ns;
    return beyond_ns == 0 ? deadline_ns : add(deadline_ns, bench.tick_ns - beyond_ns);
}

static void
model_take(uint32_t i)
{
    if (!bench.lines[i].armed) {
        return;
    }
    uint32_t place = 0;
    while (bench.order[place] != i) {
        place += 1;
    }
    bench.armed -= 1;
    for (; place < bench.armed; place++) {
        bench.order[place] = bench.order[place + 1];
    }
    bench.lines[i].armed = bench.lines[i].due = false;
}

static void
model_put(uint32_t i, uint64_t deadline_ns)
{
    uint32_t place = bench.armed;
    while (place > 0 && bench.lines[bench.order[place - 1]].deadline_ns > deadline_ns) {
        bench.order[place] = bench.order[place - 1];
        place -= 1;
    }
    bench.order[place] = i;
    bench.armed += 1;
    bench.lines[i] = (struct line){.deadline_ns = deadline_ns, .armed = true};
}

/* The timer to be fired next; TIMERS when there is none. */
static uint32_t
model_first_due(void)
{
    for (uint32_t place = 0; place < bench.armed; place++) {
        if (bench.lines[bench.order[place]].due) {
            return bench.order[place];
        }
    }
    return TIMERS;
}

static void
model_find_due(void)
{
    for (uint32_t place = 0; place < bench.armed; place++) {
        struct line *line = &bench.lines[bench.order[place]];
        line->due = line->deadline_ns <= bench.now_ns && line->deadline_ns != RT_NEVER;
    }
}

static void
compare(void)
{
    fuzz_check(rt_timers_next(&bench.timers) == model_next());
    fuzz_check(bench.timers.armed == bench.armed);
    fuzz_check(bench.held == bench.armed);
    /* Without a branch for each: which are armed is as good as random. */
    bool same_places = true;
    bool same_deadlines = true;
    for (uint32_t i = 0; i < TIMERS; i++) {
        const struct line *line = &bench.lines[i];
        const struct rt_timer *timer = &bench.timer[i];
        same_places &= (timer->place != RT_TIMER_IDLE) == line->armed;
        same_deadlines &= !line->armed | (timer->deadline_ns == line->deadline_ns);
    }
    fuzz_check(same_places);
    fuzz_check(same_deadlines);
}

/* ---- Callbacks of the wheel. ----------------------------------------------------------------- */

/* Called from inside a call: an operation from the tape; none when it is exhausted. */
static void
meddle(void)
{
    bench.depth += 1;
    while (bench.depth < DEPTH_MAX && fuzz_below(bench.tape, 4) == 3 && fuzz_more(bench.tape)) {
        operate();
    }
    bench.depth -= 1;
}

static struct rt_waker
waker_clone(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)await;
    bench.held += 1;
    return *waker;
}

static void
waker_drop(struct rt_waker waker, const struct rt_site *await)
{
    (void)waker;
    (void)await;
    bench.held -= 1;
}

/* It must be this one's turn. */
static void
waker_wake(struct rt_waker waker, const struct rt_site *await)
{
    uint32_t i = (uint32_t)waker.data;
    fuzz_check(i == model_first_due());
    fuzz_check(bench.timer[i].place == RT_TIMER_IDLE);
    model_take(i);
    bench.fired += 1;
    waker_drop(waker, await);
    compare();
    meddle();
}

static void
waker_wake_by_ref(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)waker;
    (void)await;
    fuzz_check(false); /* A slot keeps nothing that it wakes. */
}

static const struct rt_waker_vt waker_vt = {waker_clone, waker_wake, waker_wake_by_ref, waker_drop};

static void
on_earliest(void *argument, uint64_t deadline_ns)
{
    fuzz_check(argument == &bench);
    fuzz_check(bench.must_notify);
    fuzz_check(deadline_ns == model_next());
    bench.must_notify = false;
    meddle();
}

/* ---- Operations. ----------------------------------------------------------------------------- */

static void
start(uint32_t i, uint64_t deadline_ns)
{
    uint64_t before_ns = model_next();
    if (!bench.lines[i].armed) {
        struct rt_cx cx;
        rt_cx_init(&cx, &bench.executor, &bench.task, (struct rt_waker){&waker_vt, i});
        rt_slot_replace(&bench.timer[i].slot, &cx, "alarm");
        rt_cx_poison(&cx);
    }
    model_take(i);
    model_put(i, model_round(deadline_ns));
    bench.must_notify = bench.listens && model_next() != before_ns;
    rt_timer_start(&bench.timers, &bench.timer[i], deadline_ns);
    fuzz_check(!bench.must_notify);
}

static void
cancel(uint32_t i)
{
    uint64_t before_ns = model_next();
    bool armed = bench.lines[i].armed;
    model_take(i);
    bench.must_notify = bench.listens && model_next() != before_ns;
    fuzz_check(rt_timer_cancel(&bench.timers, &bench.timer[i]) == armed);
    fuzz_check(!bench.must_notify);
}

static void
process(uint64_t now_ns)
{
    uint32_t outer = bench.fired;
    bench.fired = 0;
    bench.now_ns = now_ns > bench.now_ns ? now_ns : bench.now_ns;
    model_find_due();
    uint32_t fired = rt_timers_process(&bench.timers, now_ns);
    fuzz_check(fired == bench.fired);
    fuzz_check(model_first_due() == TIMERS);
    bench.fired = outer;
}

/* A time, from far back to the end of the clock. */
static uint64_t
draw_moment(void)
{
    struct fuzz_tape *tape = bench.tape;
    uint64_t now_ns = bench.now_ns;
    uint32_t what = fuzz_below(tape, 8);
    uint32_t by = fuzz_byte(tape);
    uint64_t next_ns = model_next();
    switch (what) {
    case 1: /* The end of the clock, which is never. */
        return UINT64_MAX - by % 8;
    case 2: /* Back. */
        return now_ns > by ? now_ns - by : 0;
    case 3: /* Close to the next one. */
        return by % 4 == 0 ? add(next_ns, 1) : next_ns - (by % 4 == 1 && next_ns > 0);
    case 4: /* The same as another's. */
        return bench.lines[by % TIMERS].deadline_ns;
    case 5: /* Far. */
        return add(now_ns, (UINT64_C(1) << by % 64) - (by / 64 % 2));
    case 6: { /* Where a slot of some level begins, and just before. */
        uint32_t shift = bench.bits * (by % 4);
        return (((now_ns >> shift) + 1 + by / 4 % 4) << shift) - by / 16 % 2;
    }
    default:
        return add(now_ns, what == 7 ? by * UINT64_C(16) : by % 16);
    }
}

static void
operate(void)
{
    uint32_t what = fuzz_below(bench.tape, 8);
    if (what < 4) {
        uint32_t i = fuzz_below(bench.tape, TIMERS);
        start(i, draw_moment());
    } else if (what < 6) {
        cancel(fuzz_below(bench.tape, TIMERS));
    } else {
        process(draw_moment());
    }
    compare();
}

/* ---- One input. ------------------------------------------------------------------------------ */

static rt_poll
never_polled(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_PENDING;
}

static void
begin(struct fuzz_tape *tape)
{
    static const uint32_t shapes[][2] = {
            {2, 2}, {3, 1}, {1, 1}, {2, 1}, {1, 3}, {3, 2}, {6, 6}, {11, 6}};
    static const uint64_t ticks[] = {1, 1, 3, 1000};
    const uint32_t *shape = shapes[fuzz_below(tape, 8)];
    uint32_t how = fuzz_byte(tape);
    uint32_t by = fuzz_byte(tape);
    bench.tape = tape;
    bench.armed = bench.fired = bench.held = bench.depth = 0;
    bench.listens = how % 2 == 0;
    bench.must_notify = false;
    bench.tick_ns = ticks[how / 2 % 4];
    bench.bits = shape[1];
    bench.now_ns = how / 8 % 2 == 0    ? by
                   : how / 16 % 2 == 0 ? UINT64_MAX - by
                                       : UINT64_C(1) << by % 64;
    for (uint32_t i = 0; i < TIMERS; i++) {
        rt_timer_init(&bench.timer[i]);
        bench.lines[i] = (struct line){0};
    }
    rt_timers_init(&bench.timers, &(struct rt_timers_config){
                                          .slots = slots,
                                          .levels = shape[0],
                                          .bits = shape[1],
                                          .tick_ns = bench.tick_ns,
                                          .start_ns = bench.now_ns,
                                          .on_earliest = bench.listens ? on_earliest : 0,
                                          .argument = &bench,
                                  });
    rt_executor_init(&bench.executor,
            &(struct rt_executor_config){
                    .entries = bench.entries, .links = bench.links, .capacity = 1});
    rt_task_init(&bench.task, never_polled, 0, "fuzz");
}

FUZZ_UNSEEN_END

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_tape tape = fuzz_tape(data, size);
    begin(&tape);
    while (fuzz_more(&tape)) {
        operate();
    }
    rt_timers_audit(&bench.timers);
    tape = fuzz_tape(0, 0); /* No callback acts at the end. */
    for (uint32_t i = 0; i < TIMERS; i++) {
        cancel(i);
    }
    rt_timers_fini(&bench.timers);
    fuzz_check(bench.held == 0);
    return 0;
}
