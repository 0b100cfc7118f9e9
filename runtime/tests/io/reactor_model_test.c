/*
 * reactor_model_test.c -- the reactor against a plain list.
 *
 * Waiters come and go, wait for separate pollables or for a shared one, are
 * renewed and cancelled; sources become ready and empty; turns are answered in any
 * legal order, whole or in part. The model keeps one row a wait, in the order in
 * which the list must be, and predicts before each turn which pollables the host
 * must be asked about, and at each wake which wait must be next.
 *
 * A wake comes out of a waker from outside (spy.h), so it can do any of these
 * things itself, in the middle of the turn (R8, R9).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/io/dumb_host.h"

#define WAITERS 20u
#define SOURCES 8u
#define POLLABLES 12u /* The last four are of the sources 0 to 3 once more. */
#define STEPS 1200u
#define NONE UINT32_MAX

/* One wait, as the model knows it. */
struct row {
    uint32_t waiter;
    uint32_t pollable;
    bool pending;
    bool due; /* Reported in the turn that runs, and not yet woken. */
};

struct model;

struct waiter {
    struct rt_task task; /* Never posted: its polls are made by hand. */
    struct rt_wait wait;
    struct spy spy;
    struct model *model;
    uint32_t number;
};

struct model {
    struct dumb_runtime dumb;
    struct rt_pollable pollables[POLLABLES];
    struct waiter waiters[WAITERS];
    struct row rows[WAITERS];
    uint32_t count;
    uint64_t random;
    uint32_t lives[POLLABLES]; /* How often it got its first row. */

    /* The turn that runs. */
    uint32_t list[POLLABLES];         /* What the host must be asked about … */
    uint32_t listed_lives[POLLABLES]; /* … and which life of each. */
    uint32_t listed;
    uint32_t woken;
};

/* SplitMix64. */
static uint32_t
below(struct model *model, uint32_t end)
{
    uint64_t mixed = model->random += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((mixed ^ (mixed >> 31)) % end);
}

static uint32_t
source_of(uint32_t pollable)
{
    return pollable % SOURCES;
}

/* ---- The rows. ------------------------------------------------------------------------------- */

static uint32_t
row_of(const struct model *model, uint32_t waiter)
{
    for (uint32_t i = 0; i < model->count; i++) {
        if (model->rows[i].waiter == waiter) {
            return i;
        }
    }
    return NONE;
}

static void
row_remove(struct model *model, uint32_t waiter)
{
    uint32_t at = row_of(model, waiter);
    if (at != NONE) {
        model->count--;
        memmove(&model->rows[at], &model->rows[at + 1],
                (model->count - at) * sizeof(model->rows[0]));
    }
}

/* After the last row of its pollable, or at the end. */
static void
row_insert(struct model *model, struct row row)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < model->count; i++) {
        if (model->rows[i].pollable == row.pollable) {
            at = i + 1;
        }
    }
    if (at == 0) {
        at = model->count;
        model->lives[row.pollable]++;
    }
    memmove(&model->rows[at + 1], &model->rows[at], (model->count - at) * sizeof(row));
    model->rows[at] = row;
    model->count++;
}

/* What a poll of `waiter` for `pollable` must do; true: READY. */
static bool
model_wait(struct model *model, uint32_t waiter, uint32_t pollable)
{
    uint32_t at = row_of(model, waiter);
    bool ready = model->dumb.host.ready[source_of(pollable)];
    if (at != NONE && (ready || model->rows[at].pollable != pollable)) {
        row_remove(model, waiter);
        at = NONE;
    }
    if (!ready && at == NONE) {
        row_insert(model, (struct row){waiter, pollable, true, false});
    } else if (!ready) {
        model->rows[at].pending = true;
    }
    return ready;
}

/* ---- What may happen, from outside, from inside a wake, while the host blocks. --------------- */

static void
poll_waiter(struct model *model, struct waiter *waiter, uint32_t pollable)
{
    struct rt_cx cx;
    rt_cx_init(&cx, &model->dumb.runtime.executor, &waiter->task, spy_waker(&waiter->spy));
    bool ready = model_wait(model, waiter->number, pollable);
    rt_poll answer = rt_wait_for(&waiter->wait, &model->pollables[pollable], &cx);
    EXPECT_EQ(answer, ready ? RT_READY : RT_PENDING);
    rt_cx_poison(&cx);
}

/* What the end of a task does to its slots. */
static void
empty_slot(struct model *model, struct waiter *waiter)
{
    uint32_t at = row_of(model, waiter->number);
    if (at != NONE) {
        model->rows[at].pending = false;
    }
    (void)rt_slot_clear(&waiter->wait.slot);
}

static void
act(struct model *model)
{
    struct waiter *waiter = &model->waiters[below(model, WAITERS)];
    uint32_t at = row_of(model, waiter->number);
    uint32_t source = below(model, SOURCES);
    switch (below(model, 8)) {
    case 0:
        row_remove(model, waiter->number);
        rt_wait_cancel(&waiter->wait);
        return;
    case 1:
        empty_slot(model, waiter);
        return;
    case 2:
    case 3:
        model->dumb.host.ready[source] = !model->dumb.host.ready[source];
        return;
    case 4:
        poll_waiter(model, waiter, at != NONE ? model->rows[at].pollable : source);
        return;
    default:
        poll_waiter(model, waiter, below(model, POLLABLES));
        return;
    }
}

/* ---- The turn. ------------------------------------------------------------------------------- */

/* A woken wait must be the next one that is due; rows passed over on the way had been emptied, and
 * are not due any more. */
static void
on_wake(struct spy *spy, char what)
{
    if (what != 'w') {
        return;
    }
    struct waiter *waiter = rt_container_of(spy, struct waiter, spy);
    struct model *model = waiter->model;
    uint32_t at = row_of(model, waiter->number);
    ck_assert_msg(at != NONE, "a wait was woken that is not registered");
    EXPECT(model->rows[at].due && model->rows[at].pending);
    for (uint32_t i = 0; i < at; i++) {
        EXPECT(!model->rows[i].due || !model->rows[i].pending);
        model->rows[i].due = false;
    }
    model->rows[at].due = false;
    model->rows[at].pending = false;
    model->woken++;
    for (uint32_t i = below(model, 4); i > 0; i--) {
        act(model);
    }
}

static void
predict_list(struct model *model)
{
    model->listed = 0;
    for (uint32_t i = 0; i < model->count; i++) {
        uint32_t pollable = model->rows[i].pollable;
        bool last = model->listed > 0 && model->list[model->listed - 1] == pollable;
        if (model->rows[i].pending && !last) {
            model->list[model->listed++] = pollable;
            model->listed_lives[pollable] = model->lives[pollable];
        }
    }
}

/* The host's answer is known here, and not changed: its pollables' rows are due, unless they all
 * went while the host blocked. */
static rt_err
see_answer(struct dumb_host *host, uint32_t *indices, uint32_t *ready)
{
    struct model *model = host->argument;
    for (uint32_t i = 0; i < model->listed; i++) {
        EXPECT(host->list[i] == &model->pollables[model->list[i]]);
    }
    for (uint32_t i = 0; i < *ready; i++) {
        if (indices[i] >= model->listed) {
            continue;
        }
        uint32_t pollable = model->list[indices[i]];
        for (uint32_t k = 0; k < model->count; k++) {
            bool same_life = model->lives[pollable] == model->listed_lives[pollable];
            model->rows[k].due |= model->rows[k].pollable == pollable && same_life;
        }
    }
    return RT_OK;
}

static void
while_blocked(struct dumb_host *host)
{
    struct model *model = host->argument;
    act(model);
    if (below(model, 4) == 0) {
        host->ready[source_of(model->list[below(model, model->listed)])] = true;
    }
}

static void
take_turn(struct model *model)
{
    struct dumb_host *host = &model->dumb.host;
    enum rt_turn_mode mode = below(model, 2) == 0 ? RT_TURN_POLL : RT_TURN_BLOCK;
    uint32_t polls = host->polls;
    uint32_t woken = 0;
    host->at_most = below(model, 4);
    host->backwards = below(model, 2) == 0;
    host->last_first = below(model, 2) == 0;
    predict_list(model);
    model->woken = 0;
    rt_err err = rt_reactor_turn(&model->dumb.runtime.reactor, mode, NULL, 0, &woken);
    bool blocked_on_nothing = mode == RT_TURN_BLOCK && model->listed == 0;
    EXPECT_EQ(err, blocked_on_nothing ? RT_E_DEADLOCK : RT_OK);
    EXPECT_EQ(woken, model->woken);
    EXPECT_EQ(host->polls - polls, model->listed != 0 ? 1 : 0);
    if (model->listed != 0) {
        EXPECT_EQ(host->list_count, model->listed + (mode == RT_TURN_POLL ? 1 : 0));
    }
    for (uint32_t i = 0; i < model->count; i++) {
        EXPECT(!model->rows[i].due || !model->rows[i].pending);
        model->rows[i].due = false;
    }
}

/* ---- The comparison. ------------------------------------------------------------------------- */

static void
compare(struct model *model)
{
    struct rt_reactor *reactor = &model->dumb.runtime.reactor;
    bool ready = false;
    rt_reactor_audit(reactor);
    EXPECT_EQ(rt_reactor_waiting(reactor), model->count);
    for (uint32_t i = 0; i < WAITERS; i++) {
        const struct waiter *waiter = &model->waiters[i];
        uint32_t at = row_of(model, i);
        EXPECT((waiter->wait.reactor != NULL) == (at != NONE));
        bool pending = at != NONE && model->rows[at].pending;
        EXPECT(rt_slot_empty(&waiter->wait.slot) != pending);
        if (pending) {
            ready |= model->dumb.host.ready[source_of(model->rows[at].pollable)];
        }
    }
    EXPECT_EQ(rt_reactor_ready(reactor), ready);
}

static rt_poll
never_polled(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    ck_abort_msg("an executor polled a waiter");
    return RT_READY;
}

static void
model_init(struct model *model, uint64_t seed)
{
    memset(model, 0, sizeof(*model));
    model->random = seed;
    dumb_init(&model->dumb);
    model->dumb.host.argument = model;
    model->dumb.host.lie = see_answer;
    model->dumb.host.blocked = while_blocked;
    for (uint32_t i = 0; i < POLLABLES; i++) {
        dumb_subscribe(&model->dumb.host, source_of(i), &model->pollables[i]);
    }
    for (uint32_t i = 0; i < WAITERS; i++) {
        struct waiter *waiter = &model->waiters[i];
        rt_task_init(&waiter->task, never_polled, NULL, "waiter");
        rt_wait_init(&waiter->wait);
        waiter->spy.hook = on_wake;
        waiter->model = model;
        waiter->number = i;
    }
}

static void
model_fini(struct model *model)
{
    for (uint32_t i = 0; i < WAITERS; i++) {
        rt_wait_cancel(&model->waiters[i].wait);
        rt_task_fini(&model->waiters[i].task);
        EXPECT(spy_balanced(&model->waiters[i].spy));
    }
    for (uint32_t i = 0; i < POLLABLES; i++) {
        rt_pollable_drop(&model->pollables[i]);
    }
    dumb_fini(&model->dumb);
}

/* Holds R1, R2, R3, R4, R5, R6, R7, R8, R9, P5, P6, W1. */
TEST(reactor_model_agrees_with_the_reactor)
{
    static struct model model;
    uint32_t woken = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        model_init(&model, seed);
        for (uint32_t step = 0; step < STEPS; step++) {
            if (below(&model, 3) == 0) {
                take_turn(&model);
                woken += model.woken;
            } else {
                act(&model);
            }
            compare(&model);
        }
        model_fini(&model);
    }
    /* The test must not pass because nothing happens. */
    EXPECT(woken > STEPS);
}
