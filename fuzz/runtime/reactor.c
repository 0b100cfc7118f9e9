/*
 * reactor.c -- the reactor against a list of waits, with wakers that call back into it.
 *
 * A waker that is woken or dropped, and the host during a call, registers, renews and cancels
 * waits, makes pollables ready, ends the task that others wait for, and turns again, from inside
 * (R8, R9, W7). The pollables that the host is asked about, the tasks that are woken, by which
 * waker and in which order must be those of the list; no waker may be lost or returned twice (R2 to
 * R7, W1, W11).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/reactor.h"
#include "fuzz/fuzz.h"
#include "runtime/runtime.h"

#define POLLABLES 6u /* The last two are always the runtime's own. */
#define WAITED_FOR 4u
#define WAITS 7u
#define TASKS 2u
#define NONE WAITS
#define DEPTH_MAX 4u
#define AT_ONCE 99u /* The handle of what keeps a poll from blocking. */
#define LIST (WAITED_FOR + RT_POLLER_EXTRA)

/* A wait as the model knows it. */
struct line {
    uint32_t pollable;
    uint32_t group; /* A number for each time that a pollable gets its first wait. */
    uint32_t task;
    uintptr_t waker; /* The one stored last; two for each wait. */
    bool registered;
    bool pending;
    bool marked; /* Its pollable was reported by the turn that is under way. */
};

struct bench {
    struct rt_runtime runtime; /* Of it: host, executor and reactor. */
    struct rt_host host;
    struct rt_slab_entry tasks[TASKS];
    struct rt_sched_link links[TASKS];
    struct rt_task task[TASKS];
    struct rt_slab_entry entries[WAITED_FOR];
    struct rt_pollable *list[LIST];
    struct rt_key list_keys[LIST];
    uint32_t ready_places[LIST];
    struct rt_key keys[WAITED_FOR];
    struct rt_pollable pollables[POLLABLES];
    struct rt_wait waits[WAITS];
    struct fuzz_tape *tape;

    struct line lines[WAITS];
    uint32_t order[WAITS]; /* The registered ones, as the list has them. */
    uint32_t registered;
    uint32_t groups; /* Begun so far. */
    bool ready[POLLABLES];
    uint32_t extras;
    uint32_t held;   /* Wakers that were cloned, and neither woken nor dropped. */
    uint32_t asking; /* The wait whose pollable the reactor must check next. */
    bool busy[WAITS];
    bool quiet;        /* Wakers do nothing. */
    bool polling;      /* The host may be asked. */
    bool waking;       /* Wakers may be woken. */
    bool turning;      /* A turn is under way. */
    bool full;         /* The host has no capacity. */
    bool has_capacity; /* It had capacity for what keeps a poll from blocking. */
    uint32_t woken;
    uint32_t depth;
};

static struct bench bench;

static void operate(void);

/* Called from inside a call: an operation from the tape; none when it is exhausted. */
static void
meddle(void)
{
    uint32_t asking = bench.asking;
    bench.asking = NONE;
    bench.depth += 1;
    while (!bench.quiet && bench.depth < DEPTH_MAX && fuzz_below(bench.tape, 4) == 3 &&
            fuzz_more(bench.tape)) {
        operate();
    }
    bench.depth -= 1;
    bench.asking = asking;
}

/* ---- The model. ------------------------------------------------------------------------------ */

static void
model_leave(uint32_t w)
{
    if (!bench.lines[w].registered) {
        return;
    }
    uint32_t place = 0;
    while (bench.order[place] != w) {
        place += 1;
    }
    bench.registered -= 1;
    for (; place < bench.registered; place++) {
        bench.order[place] = bench.order[place + 1];
    }
    bench.lines[w].registered = bench.lines[w].pending = bench.lines[w].marked = false;
}

/* After the other waits of its pollable, or at the end. */
static void
model_enter(uint32_t w, uint32_t pollable)
{
    struct line *line = &bench.lines[w];
    uint32_t place = bench.registered;
    while (place > 0 && bench.lines[bench.order[place - 1]].pollable != pollable) {
        place -= 1;
    }
    if (place == 0) {
        line->group = bench.groups++;
        place = bench.registered;
    } else {
        line->group = bench.lines[bench.order[place - 1]].group;
    }
    for (uint32_t i = bench.registered; i > place; i--) {
        bench.order[i] = bench.order[i - 1];
    }
    bench.order[place] = w;
    bench.registered += 1;
    line->pollable = pollable;
    line->registered = true;
}

/* The next wait to be woken; NONE when all were. */
static uint32_t
model_expected(void)
{
    for (uint32_t i = 0; i < bench.registered; i++) {
        const struct line *line = &bench.lines[bench.order[i]];
        if (line->marked && line->pending) {
            return bench.order[i];
        }
    }
    return NONE;
}

/* The reactor checks the pollable of the asking wait: READY ends it, else it is registered. */
static void
model_check(uint32_t w, uint32_t pollable)
{
    struct line *line = &bench.lines[w];
    if (bench.ready[pollable]) {
        model_leave(w);
        return;
    }
    if (!line->registered) {
        model_enter(w, pollable);
    }
    line->pending = true;
}

FUZZ_UNSEEN_BEGIN

static void
compare(void)
{
    uint32_t pending = 0;
    bool ready = false;
    for (uint32_t w = 0; w < WAITS; w++) {
        const struct line *line = &bench.lines[w];
        fuzz_check((bench.waits[w].reactor != 0) == line->registered);
        fuzz_check(rt_slot_empty(&bench.waits[w].slot) == !line->pending);
        pending += line->pending;
        ready = ready || (line->pending && bench.ready[line->pollable]);
    }
    fuzz_check(rt_reactor_waiting(&bench.runtime.reactor) == bench.registered);
    fuzz_check(rt_reactor_ready(&bench.runtime.reactor) == ready);
    fuzz_check(bench.held == pending);
}

FUZZ_UNSEEN_END

/* ---- Wakers. --------------------------------------------------------------------------------- */

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
    fuzz_check(bench.held > 0);
    bench.held -= 1;
    meddle();
}

/* It must be this one's turn; those before it had theirs. */
static void
waker_wake(struct rt_waker waker, const struct rt_site *await)
{
    (void)await;
    uint32_t w = (uint32_t)(waker.data / 2);
    fuzz_check(bench.waking);
    fuzz_check(w == model_expected());
    fuzz_check(waker.data == bench.lines[w].waker);
    for (uint32_t i = 0; bench.order[i] != w; i++) {
        bench.lines[bench.order[i]].marked = false;
    }
    bench.lines[w].pending = bench.lines[w].marked = false;
    bench.woken += 1;
    bench.held -= 1;
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

/* ---- The host. ------------------------------------------------------------------------------- */

static uint64_t
host_now(struct rt_host *host)
{
    (void)host;
    return 0;
}

static rt_err
host_subscribe(struct rt_host *host, enum rt_subscribe what, uint64_t argument,
        struct rt_pollable *pollable)
{
    fuzz_check(what == RT_SUBSCRIBE_INSTANT);
    fuzz_check(argument == 0);
    fuzz_check(!bench.has_capacity);
    if (bench.full) {
        return RT_E_FULL;
    }
    bench.has_capacity = true;
    *pollable = (struct rt_pollable){{RT_POLLABLE_MAGIC, AT_ONCE}, host, AT_ONCE};
    return RT_OK;
}

static bool
host_ready(struct rt_host *host, const struct rt_pollable *pollable)
{
    (void)host;
    if (bench.asking != NONE) {
        uint32_t w = bench.asking;
        bench.asking = NONE;
        model_check(w, (uint32_t)pollable->handle);
    }
    return bench.ready[pollable->handle];
}

static void
host_drop(struct rt_host *host, struct rt_pollable *pollable)
{
    (void)host;
    fuzz_check(pollable->handle == AT_ONCE);
    fuzz_check(bench.has_capacity);
    bench.has_capacity = false;
}

/* The list is each pollable with a wait that was not woken, then the runtime's own (R4). */
static uint32_t
check_list(struct rt_pollable *const *in, uint32_t count, uint32_t *groups)
{
    uint32_t listed = 0;
    for (uint32_t i = 0; i < bench.registered; i++) {
        const struct line *line = &bench.lines[bench.order[i]];
        if (line->pending && (listed == 0 || groups[listed - 1] != line->group)) {
            fuzz_check(listed < count);
            fuzz_check(in[listed] == &bench.pollables[line->pollable]);
            groups[listed++] = line->group;
        }
    }
    for (uint32_t i = 0; i < bench.extras; i++) {
        fuzz_check(in[listed + i] == &bench.pollables[WAITED_FOR + i]);
    }
    fuzz_check(count >= listed + bench.extras);
    return listed;
}

/* Ready positions, some of them hidden, in order or backwards; at least one. */
static uint32_t
answer(struct rt_pollable *const *in, uint32_t count, uint32_t *indices)
{
    uint32_t hidden = fuzz_byte(bench.tape);
    uint32_t ready = 0;
    uint32_t any = fuzz_below(bench.tape, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = (hidden & 128) == 0 ? i : count - 1 - i;
        if (in[place]->handle == AT_ONCE || bench.ready[in[place]->handle]) {
            any = place;
            if ((hidden >> place % 7 & 1) == 0) {
                indices[ready++] = place;
            }
        }
    }
    if (ready == 0) { /* All are hidden, or it blocks until this one is ready. */
        bench.ready[in[any]->handle % POLLABLES] |= in[any]->handle != AT_ONCE;
        indices[ready++] = any;
    }
    return ready;
}

static rt_err
host_poll(struct rt_host *host, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready)
{
    uint32_t groups[WAITED_FOR];
    uint32_t listed = check_list(in, count, groups);
    (void)host;
    fuzz_check(bench.polling);
    bench.polling = false;
    *ret_ready = answer(in, count, ret_indices);
    meddle();
    for (uint32_t i = 0; i < *ret_ready; i++) {
        for (uint32_t w = 0; ret_indices[i] < listed && w < WAITS; w++) {
            struct line *line = &bench.lines[w];
            line->marked |= line->registered && line->group == groups[ret_indices[i]];
        }
    }
    bench.waking = true;
    return RT_OK;
}

static const struct rt_host_ops host_ops = {
        .now = host_now,
        .subscribe = host_subscribe,
        .ready = host_ready,
        .poll = host_poll,
        .drop = host_drop,
};

/* ---- Operations. ----------------------------------------------------------------------------- */

static void
wait_for(uint32_t w, uint32_t pollable, uint32_t variant)
{
    struct line *line = &bench.lines[w];
    if (bench.busy[w]) {
        return;
    }
    uint32_t task = variant / 2;
    struct rt_cx cx;
    bench.busy[w] = true;
    if (line->registered && line->pollable != pollable) {
        model_leave(w);
    }
    line->waker = w * 2 + variant % 2;
    line->task = task;
    rt_cx_init(&cx, &bench.runtime.executor, &bench.task[task],
            (struct rt_waker){&waker_vt, line->waker});
    bench.asking = w;
    rt_poll result = rt_wait_for(&bench.waits[w], &bench.pollables[pollable], &cx);
    fuzz_check(bench.asking == NONE);
    fuzz_check(result == RT_READY ? !line->registered : result == RT_PENDING);
    rt_cx_poison(&cx);
    bench.busy[w] = false;
}

static void
cancel(uint32_t w)
{
    model_leave(w);
    rt_wait_cancel(&bench.waits[w]);
}

/* Its wakers are closed then; the waits are still registered. */
static void
end_task(uint32_t task)
{
    if (bench.depth > 0) {
        return;
    }
    bench.quiet = true;
    for (uint32_t w = 0; w < WAITS; w++) {
        bench.lines[w].pending &= bench.lines[w].task != task;
    }
    rt_task_cancel(&bench.task[task]);
    fuzz_check(rt_post(&bench.runtime.executor, &bench.task[task]) == RT_OK);
    bench.quiet = false;
}

static bool
anybody_pending(void)
{
    for (uint32_t w = 0; w < WAITS; w++) {
        if (bench.lines[w].pending) {
            return true;
        }
    }
    return false;
}

static void
end_turn(uint32_t woken)
{
    fuzz_check(bench.waking); /* The host was asked. */
    fuzz_check(model_expected() == NONE);
    fuzz_check(woken == bench.woken);
    for (uint32_t w = 0; w < WAITS; w++) {
        bench.lines[w].marked = false;
    }
    bench.waking = false;
}

static void
turn(uint32_t how)
{
    struct rt_pollable *extra[] = {&bench.pollables[WAITED_FOR], &bench.pollables[WAITED_FOR + 1]};
    enum rt_turn_mode mode = how % 2 == 0 ? RT_TURN_POLL : RT_TURN_BLOCK;
    uint32_t extras = how / 2 % 3;
    uint32_t woken = 77;
    if (bench.turning) {
        fuzz_check(rt_reactor_turn(&bench.runtime.reactor, mode, extra, extras, &woken) ==
                   RT_E_REENTERED);
        return;
    }
    bool pending = anybody_pending();
    rt_err expected = mode == RT_TURN_BLOCK ? (pending || extras > 0 ? RT_OK : RT_E_DEADLOCK)
                      : pending && bench.full && !bench.has_capacity ? RT_E_FULL
                                                                     : RT_OK;
    bench.polling = expected == RT_OK && (pending || mode == RT_TURN_BLOCK);
    bool asks = bench.polling;
    bench.extras = extras;
    bench.woken = 0;
    bench.turning = true;
    fuzz_check(rt_reactor_turn(&bench.runtime.reactor, mode, extra, extras, &woken) == expected);
    bench.turning = false;
    if (asks) {
        end_turn(woken);
    } else {
        fuzz_check(expected != RT_OK || woken == 0);
    }
}

static void
operate(void)
{
    struct fuzz_tape *tape = bench.tape;
    switch (fuzz_below(tape, 12)) {
    case 0:
    case 1:
    case 2:
    case 3: {
        uint32_t w = fuzz_below(tape, WAITS);
        uint32_t how = fuzz_byte(tape);
        wait_for(w, how % WAITED_FOR, how / WAITED_FOR % 4);
        break;
    }
    case 4:
        cancel(fuzz_below(tape, WAITS));
        break;
    case 5:
    case 6:
        bench.ready[fuzz_below(tape, POLLABLES)] ^= true;
        break;
    case 7:
        end_task(fuzz_below(tape, TASKS));
        break;
    case 8:
        bench.full = !bench.full;
        break;
    default:
        turn(fuzz_below(tape, 6));
        break;
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
begin_runtime(void)
{
    bench.host = (struct rt_host){.magic = RT_HOST_MAGIC, .ops = &host_ops};
    rt_reactor_init(&bench.runtime.reactor, &bench.host,
            &(struct rt_reactor_config){
                    .poller =
                            {
                                    .entries = bench.entries,
                                    .list = bench.list,
                                    .list_keys = bench.list_keys,
                                    .ready = bench.ready_places,
                                    .capacity = WAITED_FOR,
                            },
                    .keys = bench.keys,
            });
    rt_executor_init(&bench.runtime.executor,
            &(struct rt_executor_config){
                    .entries = bench.tasks, .links = bench.links, .capacity = TASKS});
    bench.runtime.executor.runtime = &bench.runtime;
    bench.runtime.host = &bench.host;
    for (uint32_t i = 0; i < TASKS; i++) {
        rt_task_init(&bench.task[i], never_polled, 0, "fuzz");
        fuzz_check(rt_post(&bench.runtime.executor, &bench.task[i]) == RT_OK);
    }
}

static void
begin(struct fuzz_tape *tape)
{
    begin_runtime();
    for (uint32_t i = 0; i < POLLABLES; i++) {
        bench.pollables[i] = (struct rt_pollable){{RT_POLLABLE_MAGIC, i}, &bench.host, i};
        bench.ready[i] = false;
    }
    for (uint32_t w = 0; w < WAITS; w++) {
        rt_wait_init(&bench.waits[w]);
        bench.lines[w] = (struct line){0};
        bench.busy[w] = false;
    }
    bench.tape = tape;
    bench.registered = bench.groups = bench.held = bench.depth = bench.woken = 0;
    bench.asking = NONE;
    bench.quiet = bench.polling = bench.waking = bench.turning = bench.full = bench.has_capacity =
            false;
}

static void
end(void)
{
    rt_reactor_audit(&bench.runtime.reactor);
    bench.quiet = true;
    for (uint32_t w = 0; w < WAITS; w++) {
        cancel(w);
    }
    rt_reactor_fini(&bench.runtime.reactor);
    for (uint32_t i = 0; i < TASKS; i++) {
        rt_task_cancel(&bench.task[i]);
    }
    rt_executor_fini(&bench.runtime.executor);
    fuzz_check(bench.held == 0);
    fuzz_check(!bench.has_capacity);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_tape tape = fuzz_tape(data, size);
    begin(&tape);
    while (fuzz_more(&tape)) {
        operate();
    }
    end();
    return 0;
}
