/*
 * host.c -- the runtime over any host that keeps its contract, runtime/io/host.h, to the letter.
 *
 * The tape is a program of a few tasks, and a host that answers in any order, omits ready ones,
 * lets any time pass in a poll and between two readings of the clock, wakes late, moves single
 * bytes, returns "not ready" once for a deadline that has passed (P10), sometimes has no capacity,
 * breaks sources, and notifies during a call. In all cases:
 *
 *   a poll that blocks lists what each sleeping task waits for: no wake is lost;
 *   no sleep ends early (M1), and nothing is ready that the host did not report ready;
 *   all tasks end, after a bounded number of polls; every pollable and waker is returned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"
#include "runtime/runtime.h"

#define JOBS 5u
#define SOURCES 3u
#define HANDLES 32u
#define ENTRIES (2 * JOBS)
#define LIST (ENTRIES + RT_POLLER_EXTRA)
#define POLLS_MAX 4000u
#define LEVELS 3u
#define BITS 2u

enum kind { FREE, SOURCE, INSTANT, NOTIFY };

struct handle {
    enum kind kind;
    uint32_t source;
    uint64_t instant_ns;
    bool denies_once; /* It returns "not ready" once more after its deadline. */
};

enum doing { CHOOSING, SLEEPING, READING, GUARDED, DEADLINE, YIELDING, ALIEN };

/* A task, and its current operation. */
struct job {
    struct rt_task task;
    enum doing doing;
    bool posted; /* And not finished. */
    struct rt_sleep sleep;
    struct rt_wait wait;
    struct rt_yield yield;
    struct rt_pollable instant;
    uint64_t until_ns;
    uint32_t source;
    uint32_t wanted;       /* Bytes still to be read. */
    struct rt_waker alien; /* Null once it was woken from outside. */
    bool released;         /* Set from outside. */
};

struct bench {
    struct rt_host host;
    struct fuzz_tape *tape;
    struct handle handles[HANDLES];
    uint32_t alive;
    uint32_t refusals; /* Subscriptions that may still be refused. */
    uint32_t polls;
    uint64_t now_ns;
    bool notified;
    uint32_t bytes[SOURCES]; /* Available bytes. */
    bool broken[SOURCES];
    struct rt_pollable pollables[SOURCES];

    struct rt_runtime runtime;
    struct rt_slab_entry tasks[ENTRIES];
    struct rt_sched_link links[ENTRIES];
    struct rt_list *slots[RT_TIMERS_SLOTS(LEVELS, BITS)];
    struct rt_slab_entry entries[ENTRIES];
    struct rt_pollable *list[LIST];
    struct rt_key list_keys[LIST];
    uint32_t ready[LIST];
    struct rt_key keys[ENTRIES];
    struct rt_waker deferred[JOBS];
    struct job jobs[JOBS];
};

static struct bench bench;

/* ---- The host. ------------------------------------------------------------------------------- */

static void
pass(uint64_t by_ns)
{
    bench.now_ns += by_ns;
}

static uint64_t
host_now(struct rt_host *host)
{
    (void)host;
    static const uint64_t steps[] = {0, 0, 0, 0, 1, 3, 64, UINT64_C(1) << 20};
    pass(steps[fuzz_below(bench.tape, 8)]);
    return bench.now_ns;
}

/* A free entry for a pollable; false when the host has no capacity, a limited number of times. */
static bool
make(struct handle what, struct rt_pollable *pollable)
{
    uint32_t handle = 0;
    if (bench.refusals > 0 && fuzz_below(bench.tape, 4) == 3) {
        bench.refusals -= 1;
        return false;
    }
    while (bench.handles[handle].kind != FREE) {
        handle += 1;
        fuzz_check(handle < HANDLES);
    }
    bench.handles[handle] = what;
    bench.alive += 1;
    *pollable = (struct rt_pollable){{RT_POLLABLE_MAGIC, handle}, &bench.host, handle};
    return true;
}

static rt_err
host_subscribe(struct rt_host *host, enum rt_subscribe what, uint64_t argument,
        struct rt_pollable *pollable)
{
    (void)host;
    struct handle handle = {.kind = what == RT_SUBSCRIBE_NOTIFY ? NOTIFY : INSTANT};
    handle.instant_ns = argument;
    handle.denies_once = argument <= bench.now_ns && fuzz_below(bench.tape, 2) == 1;
    return make(handle, pollable) ? RT_OK : RT_E_FULL;
}

static struct handle *
handle_of(const struct rt_pollable *pollable)
{
    fuzz_check(pollable->handle < HANDLES);
    fuzz_check(bench.handles[pollable->handle].kind != FREE);
    return &bench.handles[pollable->handle];
}

static bool
host_ready(struct rt_host *host, const struct rt_pollable *pollable)
{
    (void)host;
    struct handle *handle = handle_of(pollable);
    bool denies_once = handle->denies_once;
    switch (handle->kind) {
    case INSTANT:
        handle->denies_once = false;
        return !denies_once && handle->instant_ns <= bench.now_ns;
    case SOURCE:
        return bench.bytes[handle->source] > 0 || bench.broken[handle->source];
    case NOTIFY:
        return bench.notified;
    case FREE:
        break;
    }
    return false;
}

static void
host_drop(struct rt_host *host, struct rt_pollable *pollable)
{
    (void)host;
    handle_of(pollable)->kind = FREE;
    bench.alive -= 1;
}

static void
host_notify(struct rt_host *host)
{
    (void)host;
    bench.notified = true;
}

/* Wakes a task's waker from outside: the host must be notified (D8). */
static bool
call_alien(uint32_t j)
{
    struct job *job = &bench.jobs[j];
    if (rt_waker_is_null(&job->alien)) {
        return false;
    }
    job->released = true;
    rt_waker_wake(&job->alien);
    return true;
}

/* Events from outside. None when the tape is exhausted. */
static void
go_on(void)
{
    switch (fuzz_below(bench.tape, 8)) {
    case 3:
        bench.bytes[fuzz_below(bench.tape, SOURCES)] += 1 + fuzz_below(bench.tape, 4);
        break;
    case 4:
        pass(fuzz_byte(bench.tape));
        break;
    case 5:
        (void)call_alien(fuzz_below(bench.tape, JOBS));
        break;
    case 6:
        bench.broken[fuzz_below(bench.tape, SOURCES)] = true;
        break;
    default:
        break;
    }
}

/* Makes an entry ready, however late; false when only another actor could. */
static bool
end_block(const struct rt_pollable *pollable)
{
    struct handle *handle = handle_of(pollable);
    uint32_t how = fuzz_byte(bench.tape);
    switch (handle->kind) {
    case INSTANT:
        if (handle->instant_ns > bench.now_ns) {
            pass(handle->instant_ns - bench.now_ns + how);
        }
        handle->denies_once = false;
        return true;
    case SOURCE:
        bench.bytes[handle->source] += 1 + how % 4;
        return true;
    case NOTIFY:
        for (uint32_t j = 0; j < JOBS; j++) {
            if (call_alien((how + j) % JOBS)) {
                return true;
            }
        }
        break;
    case FREE:
        break;
    }
    return false;
}

static bool
lists(struct rt_pollable *const *in, uint32_t count, const struct rt_pollable *pollable)
{
    for (uint32_t i = 0; i < count; i++) {
        if (in[i] == pollable) {
            return true;
        }
    }
    return false;
}

/* Whether a deadline is listed at which a sleep until `until_ns` ends. */
static bool
lists_moment(struct rt_pollable *const *in, uint32_t count, uint64_t until_ns)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct handle *handle = handle_of(in[i]);
        if (handle->kind == INSTANT && handle->instant_ns <= until_ns) {
            return true;
        }
    }
    return false;
}

/* The runtime is about to block: each blocked task has its pollable in the list. */
static void
check_blocked_are_listed(struct rt_pollable *const *in, uint32_t count)
{
    for (uint32_t j = 0; j < JOBS; j++) {
        const struct job *job = &bench.jobs[j];
        bool sleeps = job->doing == SLEEPING || job->doing == GUARDED;
        bool reads = job->doing == READING || job->doing == GUARDED;
        if (!job->posted) {
            continue;
        }
        fuzz_check(job->doing != CHOOSING && job->doing != YIELDING);
        fuzz_check(!sleeps || lists_moment(in, count, job->until_ns));
        fuzz_check(!reads || lists(in, count, &bench.pollables[job->source]));
        fuzz_check(job->doing != DEADLINE || lists(in, count, &job->instant));
        fuzz_check(job->doing != ALIEN || lists(in, count, &bench.runtime.notify));
        fuzz_check(job->doing != ALIEN || !job->released || bench.notified);
    }
}

/* The ready pollables, in order or backwards, with some hidden; at least one, if there is any. */
static uint32_t
answer(struct rt_pollable *const *in, uint32_t count, uint32_t *indices)
{
    uint32_t hidden = fuzz_byte(bench.tape);
    uint32_t ready = 0;
    uint32_t any = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = (hidden & 128) == 0 ? i : count - 1 - i;
        if (host_ready(&bench.host, in[place])) {
            any = place;
            if ((hidden >> place % 7 & 1) == 0) {
                indices[ready++] = place;
            }
        }
    }
    if (ready == 0 && any < count) {
        indices[ready++] = any;
    }
    return ready;
}

static rt_err
host_poll(struct rt_host *host, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready)
{
    (void)host;
    fuzz_check(count > 0);
    bench.polls += 1;
    fuzz_check(bench.polls < POLLS_MAX);
    if (!lists(in, count, &bench.runtime.reactor.at_once)) {
        check_blocked_are_listed(in, count);
    }
    go_on();
    uint32_t first = fuzz_below(bench.tape, count);
    while ((*ret_ready = answer(in, count, ret_indices)) == 0) {
        uint32_t i = 0;
        while (!end_block(in[(first + i) % count])) {
            i += 1;
            fuzz_check(i < count); /* Else it would block forever. */
        }
    }
    for (uint32_t i = 0; i < *ret_ready; i++) {
        bench.notified &= in[ret_indices[i]] != &bench.runtime.notify;
    }
    return RT_OK;
}

static const struct rt_host_ops host_ops = {
        .now = host_now,
        .subscribe = host_subscribe,
        .ready = host_ready,
        .poll = host_poll,
        .drop = host_drop,
        .notify = host_notify,
};

/* ---- The program. ---------------------------------------------------------------------------- */

static struct job *
job_of(struct rt_task *task)
{
    return rt_container_of(task, struct job, task);
}

/* Ends the operation of a job. */
static void
give_up(struct job *job)
{
    rt_sleep_cancel(&job->sleep);
    rt_wait_cancel(&job->wait);
    rt_pollable_drop(&job->instant);
    rt_waker_drop(&job->alien);
    job->doing = CHOOSING;
}

static void
job_cleanup(struct rt_task *task)
{
    struct job *job = job_of(task);
    give_up(job);
    job->posted = false;
}

/* Reads some of the available bytes; it was READY, so there are some, or the source is broken. */
static void
take_bytes(struct job *job)
{
    uint32_t *there = &bench.bytes[job->source];
    fuzz_check(*there > 0 || bench.broken[job->source]);
    uint32_t got = *there > 1 ? 1 + fuzz_below(bench.tape, *there < 256 ? *there : 256) : *there;
    got = got < job->wanted ? got : job->wanted;
    *there -= got;
    job->wanted -= bench.broken[job->source] ? job->wanted : got;
}

static void
choose(struct job *job, struct rt_cx *cx)
{
    static const uint64_t lengths[] = {0, 1, 2, 5, 17, 64, 1000, UINT64_C(1) << 40};
    enum doing doing = (enum doing)(1 + fuzz_below(bench.tape, ALIEN));
    uint64_t length_ns = lengths[fuzz_below(bench.tape, 8)];
    job->source = fuzz_below(bench.tape, SOURCES);
    job->wanted = 1 + fuzz_below(bench.tape, 6);
    if (doing == SLEEPING || doing == GUARDED) {
        rt_sleep_init(&job->sleep, length_ns);
        rt_sleep_begin(&job->sleep, cx);
        job->until_ns = job->sleep.deadline_ns;
    }
    if (doing == DEADLINE) {
        job->until_ns = bench.now_ns + length_ns;
        if (rt_subscribe_instant(&bench.host, job->until_ns, &job->instant) != RT_OK) {
            return; /* No capacity: another operation. */
        }
    }
    job->yield = (struct rt_yield){0};
    job->released = false;
    job->doing = doing;
}

/* Passes a waker to the outside, and waits until it was woken. */
static rt_poll
wait_for_alien(struct job *job, struct rt_cx *cx)
{
    if (job->released) {
        return RT_READY;
    }
    rt_waker_drop(&job->alien);
    job->alien = rt_waker_clone(rt_cx_waker(cx));
    return RT_PENDING;
}

/* The job's operation. READY: it may choose again. */
static rt_poll
poll_step(struct job *job, struct rt_cx *cx)
{
    switch (job->doing) {
    case SLEEPING:
        RT_AWAIT(rt_sleep_poll(&job->sleep, cx));
        fuzz_check(bench.now_ns >= job->until_ns);
        return RT_READY;
    case READING:
        while (job->wanted > 0) {
            RT_AWAIT(rt_wait_for(&job->wait, &bench.pollables[job->source], cx));
            take_bytes(job);
        }
        return RT_READY;
    case GUARDED:
        if (rt_wait_for(&job->wait, &bench.pollables[job->source], cx) == RT_READY) {
            take_bytes(job);
            return RT_READY;
        }
        RT_AWAIT(rt_sleep_poll(&job->sleep, cx));
        fuzz_check(bench.now_ns >= job->until_ns);
        return RT_READY;
    case DEADLINE:
        RT_AWAIT(rt_wait_for(&job->wait, &job->instant, cx));
        fuzz_check(bench.now_ns >= job->until_ns);
        return RT_READY;
    case YIELDING:
        return rt_yield_now(&job->yield, cx);
    case ALIEN:
        return wait_for_alien(job, cx);
    case CHOOSING:
        break;
    }
    return RT_READY;
}

static void
cancel(struct job *job)
{
    if (job->posted) {
        rt_task_cancel(&job->task);
    }
}

static rt_poll
job_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct job *job = job_of(task);
    for (;;) {
        RT_AWAIT(poll_step(job, cx));
        give_up(job);
        if (!fuzz_more(bench.tape)) {
            return RT_READY;
        }
        switch (fuzz_below(bench.tape, 12)) {
        case 10:
            cancel(&bench.jobs[fuzz_below(bench.tape, JOBS)]); /* Itself included. */
            break;
        case 11:
            rt_host_notify(&bench.host);
            break;
        default:
            choose(job, cx);
        }
    }
}

/* ---- One input. ------------------------------------------------------------------------------ */

static void
begin_runtime(void)
{
    struct rt_runtime_config config = {
            .host = &bench.host,
            .executor = {.entries = bench.tasks, .capacity = ENTRIES, .links = bench.links},
            .timers = {.slots = bench.slots, .levels = LEVELS, .bits = BITS},
            .reactor =
                    {
                            .poller =
                                    {
                                            .entries = bench.entries,
                                            .list = bench.list,
                                            .list_keys = bench.list_keys,
                                            .ready = bench.ready,
                                            .capacity = ENTRIES,
                                    },
                            .keys = bench.keys,
                    },
            .event_interval = 1 + fuzz_below(bench.tape, 8),
            .deferred = bench.deferred,
            .deferred_capacity = fuzz_below(bench.tape, JOBS + 1),
    };
    rt_runtime_init(&bench.runtime, &config);
}

static void
begin(struct fuzz_tape *tape)
{
    bench.host = (struct rt_host){.magic = RT_HOST_MAGIC, .ops = &host_ops};
    bench.tape = tape;
    bench.alive = bench.refusals = bench.polls = 0;
    bench.now_ns = fuzz_byte(tape);
    bench.notified = false;
    for (uint32_t i = 0; i < HANDLES; i++) {
        bench.handles[i].kind = FREE;
    }
    for (uint32_t i = 0; i < SOURCES; i++) {
        bench.bytes[i] = 0;
        bench.broken[i] = false;
        fuzz_check(make((struct handle){.kind = SOURCE, .source = i}, &bench.pollables[i]));
    }
    begin_runtime();
    fuzz_check(rt_runtime_hold(&bench.runtime) == RT_OK);
    bench.refusals = fuzz_below(tape, 8);
    uint32_t jobs = 1 + fuzz_below(tape, JOBS);
    for (uint32_t j = 0; j < JOBS; j++) {
        struct job *job = &bench.jobs[j];
        *job = (struct job){.posted = j < jobs};
        rt_task_init(&job->task, job_poll, job_cleanup, "job");
        rt_sleep_init(&job->sleep, 0);
        rt_wait_init(&job->wait);
        if (job->posted) {
            fuzz_check(rt_post(&bench.runtime.executor, &job->task) == RT_OK);
        }
    }
}

/* Runs until all tasks have ended; a host without capacity may be called again. */
static void
run(void)
{
    rt_err err = RT_E_FULL;
    for (uint32_t i = 0; err == RT_E_FULL; i++) {
        fuzz_check(i < 10);
        err = rt_run_to_completion(&bench.runtime);
    }
    fuzz_check(err == RT_OK);
    for (uint32_t j = 0; j < JOBS; j++) {
        fuzz_check(!bench.jobs[j].posted);
    }
}

static void
end(void)
{
    rt_executor_audit(&bench.runtime.executor);
    rt_timers_audit(&bench.runtime.timers);
    rt_reactor_audit(&bench.runtime.reactor);
    rt_runtime_release(&bench.runtime);
    for (uint32_t i = 0; i < SOURCES; i++) {
        rt_pollable_drop(&bench.pollables[i]);
    }
    rt_runtime_fini(&bench.runtime);
    fuzz_check(bench.alive == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_tape tape = fuzz_tape(data, size);
    begin(&tape);
    run();
    end();
    return 0;
}
