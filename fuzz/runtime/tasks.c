/*
 * tasks.c -- three tasks, each a tree of combinators, over a separate executor and clock.
 *
 * The tape grows the trees (tree.h) and makes their leaves ready, wakes them spuriously, wakes
 * tasks, gives them other wakers, cancels them from outside and from within, advances time. Now and
 * then the executor runs until all tasks are blocked. Then: a blocked task has no reason to be
 * ready, a ready one had one, no task was polled without a wake; and when a task ends, each of its
 * leaves has answered or was dropped, in order, and none of its wakers is stored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/runtime/tree.h"

FUZZ_UNSEEN_BEGIN

#define TASKS 3u
#define ENTRIES (TASKS * (NODES + 1))
#define POLLS_MAX 2000u

struct work {
    struct rt_task task;
    struct tree tree;
    bool live;      /* Posted, and not ended. */
    bool woken;     /* By something since the last run. */
    bool cancelled; /* From within, in a poll that continues. */
    bool selects;   /* Its root is a select that runs until no child is left. */
    bool set_seen[PARTS];
};

static struct {
    struct rt_host host;
    struct rt_runtime runtime;
    struct rt_slab_entry entries[ENTRIES];
    struct rt_sched_link links[ENTRIES];
    struct rt_list *slots[RT_TIMERS_SLOTS(2, 3)];
    /* Of an unused reactor. */
    struct rt_pollable *pollables[RT_POLLER_EXTRA];
    struct rt_key keys[RT_POLLER_EXTRA];
    uint32_t ready[RT_POLLER_EXTRA];
    struct work works[TASKS];
    uint64_t now_ns;
} run;

static uint64_t
host_now(struct rt_host *host)
{
    (void)host;
    return run.now_ns;
}

static void
never_notified(void *argument)
{
    (void)argument;
}

/* ---- A task. ------------------------------------------------------------------------------- */

static void
cancel_from_within(struct tree *tree)
{
    struct work *work = rt_container_of(tree, struct work, tree);
    work->cancelled = true;
    rt_task_cancel(&work->task);
}

/* Sets are used one after another, and each part is in one of them. */
static rt_poll
poll_select(struct work *work, struct rt_cx *cx)
{
    struct node *root = &work->tree.nodes[0];
    for (;;) {
        RT_AWAIT(rt_select_poll(&root->as.select, cx));
        fuzz_check(tree_select_done(root, run.now_ns));
        for (uint32_t i = 0; i < root->count; i++) {
            bool has = rt_select_has(&root->as.select, i);
            fuzz_check(!has || !work->set_seen[i]);
            work->set_seen[i] |= has;
        }
        if (!rt_select_again(&root->as.select)) {
            break;
        }
        work->tree.all = true; /* No leaf was woken for the next poll. */
    }
    for (uint32_t i = 0; i < root->count; i++) {
        fuzz_check(work->set_seen[i]);
    }
    return RT_READY;
}

static rt_poll
work_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct work *work = rt_container_of(task, struct work, task);
    struct node *root = &work->tree.nodes[0];
    fuzz_check(work->woken);
    if (work->selects) {
        return poll_select(work, cx);
    }
    RT_AWAIT(rt_future_poll(root->future, cx));
    fuzz_check(tree_done(root, run.now_ns));
    return RT_READY;
}

/* The end of the task, for any reason. */
static void
work_cleanup(struct rt_task *task)
{
    struct work *work = rt_container_of(task, struct work, task);
    fuzz_check(work->live);
    work->live = false;
    tree_fini(&work->tree);
    fuzz_check(rt_list_empty(&task->slots));
}

static void
begin(struct work *work, struct fuzz_tape *tape)
{
    if (work->live) {
        return;
    }
    *work = (struct work){.live = true, .woken = true};
    tree_init(&work->tree, cancel_from_within, tape);
    work->selects = work->tree.nodes[0].kind == SELECT && fuzz_below(tape, 2) == 1;
    rt_task_init(&work->task, work_poll, work_cleanup, "work");
    fuzz_check(rt_post(&run.runtime.executor, &work->task) == RT_OK);
}

/* ---- What the tape does. ------------------------------------------------------------------- */

static void
wake_leaf(struct work *work, uint32_t number, bool ready)
{
    struct node *node = &work->tree.nodes[number % work->tree.count];
    if (node->kind == LEAF && tree_leaf_wake(node, ready)) {
        work->woken = true;
    }
}

static void
wake_in_vain(struct work *work)
{
    work->tree.all = true;
    work->woken = true;
    rt_task_wake(&work->task);
}

static void
migrate(struct work *work)
{
    work->tree.all = true;
    work->woken = true;
    fuzz_check(rt_task_migrate(&work->task) == RT_OK);
    fuzz_check(rt_list_empty(&work->task.slots));
}

static void
cancel(struct work *work)
{
    rt_task_cancel(&work->task);
    fuzz_check(!work->live && work->task.end == RT_TASK_CANCELLED);
}

/* A timer that fires wakes the task of its timeout, and lets a combinator poll that part. */
static void
pass_time(uint32_t step_ns)
{
    run.now_ns += step_ns;
    for (uint32_t i = 0; i < TASKS; i++) {
        struct work *work = &run.works[i];
        for (uint32_t k = 0; work->live && k < work->tree.count; k++) {
            const struct node *node = &work->tree.nodes[k];
            const struct rt_sleep *sleep = &node->as.timeout.sleep;
            if (node->kind == TIMEOUT && sleep->has_deadline && sleep->deadline_ns <= run.now_ns) {
                work->tree.all = true;
                work->woken = true;
            }
        }
    }
    (void)rt_timers_process(&run.runtime.timers, run.now_ns);
}

/* Runs until all are blocked; then each blocked task must have no reason to be ready. */
static void
run_all(void)
{
    struct rt_run_result result;
    rt_err err = rt_run_until_stalled(&run.runtime.executor, POLLS_MAX, &result);
    fuzz_check(err == RT_OK && result.stall != RT_STALL_LIMIT);
    uint32_t live = 0;
    for (uint32_t i = 0; i < TASKS; i++) {
        struct work *work = &run.works[i];
        work->tree.all = false;
        work->woken = false;
        live += work->live;
        if (work->live) {
            const struct node *root = &work->tree.nodes[0];
            bool due = work->selects ? tree_count_due(root, run.now_ns) == root->count
                                     : tree_due(root, run.now_ns);
            fuzz_check(!due && !work->cancelled);
            tree_check_asleep(&work->tree);
        } else if (work->cancelled) {
            fuzz_check(work->task.end == RT_TASK_CANCELLED);
            work->cancelled = false;
        }
    }
    fuzz_check(result.remaining == live);
}

static void
act(uint32_t what, struct fuzz_tape *tape)
{
    if (what == 7) {
        pass_time(1 + fuzz_below(tape, 8));
        return;
    }
    struct work *work = &run.works[fuzz_below(tape, TASKS)];
    if (what == 8 || !work->live) {
        begin(work, tape);
    } else if (what <= 4) {
        wake_leaf(work, fuzz_below(tape, NODES), what <= 3);
    } else if (what == 5) {
        wake_in_vain(work);
    } else if (what == 6) {
        migrate(work);
    } else {
        cancel(work);
    }
}

static void
set_up(void)
{
    static const struct rt_host_ops ops = {.now = host_now};
    run.host = (struct rt_host){.magic = RT_HOST_MAGIC, .ops = &ops};
    run.now_ns = 1;
    struct rt_runtime_config config = {
            .host = &run.host,
            .executor = {.entries = run.entries,
                    .capacity = ENTRIES,
                    .links = run.links,
                    .notify = never_notified},
            .timers = {.slots = run.slots, .levels = 2, .bits = 3},
            .reactor = {.poller = {.list = run.pollables,
                                .list_keys = run.keys,
                                .ready = run.ready},
                    .keys = run.keys},
            .task_quota_ns = RT_NEVER,
    };
    rt_runtime_init(&run.runtime, &config);
    for (uint32_t i = 0; i < TASKS; i++) {
        run.works[i].live = false;
        run.works[i].cancelled = false;
    }
}

/* Nothing of any task is left. */
static void
tear_down(void)
{
    for (uint32_t i = 0; i < TASKS; i++) {
        if (run.works[i].live) {
            cancel(&run.works[i]);
        }
    }
    const struct rt_executor *executor = &run.runtime.executor;
    rt_executor_audit(executor);
    fuzz_check(executor->targets.used == 0);
    fuzz_check(executor->counters.clones == executor->counters.returned);
    fuzz_check(run.runtime.timers.armed == 0);
    rt_runtime_fini(&run.runtime);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_tape tape = fuzz_tape(data, size);
    set_up();
    while (fuzz_more(&tape)) {
        uint32_t what = fuzz_below(&tape, 20);
        act(what % 10, &tape);
        if (what < 10) {
            run_all();
        }
    }
    run_all();
    tear_down();
    return 0;
}

FUZZ_UNSEEN_END
