/*
 * seastar-510f314.c -- two loops retry the same requests.
 *
 * scylladb/seastar 510f314 (#3169), aio_storage_context::stop.
 *
 * The bug. Requests that the kernel refuses (EAGAIN) are put into a queue, and a background loop
 * submits them again, through a thread, one after the other; a request leaves the queue when the
 * thread has answered. A loop runs while its future is pending. stop() waits for the loop, and to
 * wait it moves the future out and leaves a ready one. From then on no loop seems to run. The
 * poller, which runs until the end of the shutdown, finds requests to retry, and starts a second
 * loop over the same queue. Both submit the head of the queue, and a request is freed twice: while
 * the host still has it, or later.
 *
 * The fix. stop() leaves the future in its field until the loop has ended: storage_stop below.
 *
 * Here. A client writes six records and asks the storage to stop, which ends when no request is
 * outstanding. The kernel refuses a request now and then, at most five times.
 *
 * Cause: not-a-wake in io_submit or storage_stop or schedule_retry
 * Must end in: contract (the host is given a request that it already has, or a request is freed
 * twice). Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define REQUESTS 6
#define LOOPS 8
#define REFUSALS_MAX 5

struct request {
    char record;
    bool outstanding;
};

/* A queue of requests, by number. */
struct queue {
    uint32_t all[REQUESTS * 4];
    uint32_t count;
};

struct retry_loop {
    struct rt_task task;
    struct storage *storage;
    bool running;
    bool submitted; /* The thread has called io_submit; its answer is not there yet. */
    bool in_thread;
    uint32_t consumed;
    struct rt_sleep thread;
    struct rt_slot joiner;
};

struct storage {
    bool broken;
    struct sim_world *world;
    struct sim_rt *rt;
    struct rt_completion_host *host;
    int32_t file;
    struct request requests[REQUESTS];
    uint32_t outstanding;
    bool freed_twice;
    uint32_t refusals;
    struct queue submissions;
    struct queue pending; /* Refused, not yet seen by a loop. */
    struct queue retries; /* Being retried. */
    struct retry_loop loops[LOOPS];
    uint32_t loop_count;
    struct retry_loop *retrying; /* The future: NULL is a ready one. */
    struct rt_task poller;
    struct rt_pollable completions;
    struct rt_wait wait;
    struct rt_slot work;
    struct rt_slot idle;
};

/* ---- Queues, and the kernel. ----------------------------------------------------------------- */

static void
push(struct queue *queue, uint32_t number)
{
    queue->all[queue->count++] = number;
}

static void
erase_front(struct queue *queue, uint32_t count)
{
    count = count < queue->count ? count : queue->count;
    queue->count -= count;
    for (uint32_t i = 0; i < queue->count; i++) {
        queue->all[i] = queue->all[i + count];
    }
}

/* io_submit of one request: false is EAGAIN. */
static bool
io_submit(struct storage *storage, uint32_t number)
{
    if (storage->refusals < REFUSALS_MAX && sim_pick(storage->world, 3) == 1) {
        storage->refusals++;
        return false;
    }
    struct rt_submission submission = {.opcode = RT_OPCODE_WRITE,
            .target = storage->file,
            .buffer = &storage->requests[number].record,
            .size = 1,
            .user_data = number};
    return storage->host->ops->push(storage->host, &submission) == RT_OK &&
           storage->host->ops->enter(storage->host) == RT_OK;
}

/* ---- The background loop. -------------------------------------------------------------------- */

/* Submits the head of the queue, in a thread; returns how many requests are done. */
static rt_poll
submit_in_thread(struct retry_loop *loop, struct rt_cx *cx, uint32_t *ret_consumed)
{
    struct storage *storage = loop->storage;
    if (!loop->in_thread) {
        loop->in_thread = true;
        loop->submitted = false;
        rt_sleep_init(&loop->thread, sim_range(storage->world, 10 * RT_US, 100 * RT_US));
    }
    RT_AWAIT(rt_sleep_poll(&loop->thread, cx));
    if (!loop->submitted) {
        loop->submitted = true;
        if (storage->retries.count > 0 && !io_submit(storage, storage->retries.all[0])) {
            push(&storage->pending, storage->retries.all[0]);
        }
        rt_sleep_init(&loop->thread, sim_range(storage->world, 10 * RT_US, 100 * RT_US));
        RT_AWAIT(rt_sleep_poll(&loop->thread, cx));
    }
    loop->in_thread = false;
    *ret_consumed = 1;
    return RT_READY;
}

static rt_poll
retry_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct retry_loop *loop = rt_container_of(task, struct retry_loop, task);
    struct storage *storage = loop->storage;
    while (loop->in_thread || storage->retries.count > 0 || storage->pending.count > 0) {
        if (!loop->in_thread && storage->retries.count == 0) {
            storage->retries = storage->pending;
            storage->pending.count = 0;
        }
        uint32_t consumed = 0;
        RT_AWAIT(submit_in_thread(loop, cx, &consumed));
        erase_front(&storage->retries, consumed);
    }
    loop->running = false;
    if (storage->retrying == loop) {
        storage->retrying = NULL;
    }
    rt_slot_wake(&loop->joiner);
    return RT_READY;
}

static void
retry_cleanup(struct rt_task *task)
{
    rt_sleep_cancel(&rt_container_of(task, struct retry_loop, task)->thread);
}

static void
schedule_retry(struct storage *storage)
{
    struct retry_loop *loop = &storage->loops[storage->loop_count++ % LOOPS];
    loop->storage = storage;
    loop->running = true;
    loop->in_thread = false;
    rt_slot_init(&loop->joiner);
    rt_task_init(&loop->task, retry_poll, retry_cleanup, "retry loop");
    storage->retrying = loop;
    sim_spawn_background(storage->rt, &loop->task);
}

/* ---- The poller: submits, reaps, and starts retries. ----------------------------------------- */

static void
submit_work(struct storage *storage)
{
    while (storage->submissions.count > 0) {
        uint32_t number = storage->submissions.all[0];
        if (!io_submit(storage, number)) {
            push(&storage->pending, number);
        }
        erase_front(&storage->submissions, 1);
    }
    bool wanted = storage->pending.count > 0 || storage->retries.count > 0;
    if (wanted && storage->retrying == NULL) {
        schedule_retry(storage);
    }
}

static void
reap(struct storage *storage)
{
    struct rt_completion completion;
    while (storage->host->ops->reap(storage->host, &completion, 1) > 0) {
        struct request *request = &storage->requests[completion.user_data];
        storage->freed_twice = storage->freed_twice || !request->outstanding;
        storage->outstanding -= request->outstanding;
        request->outstanding = false;
        SIM_PROGRESS();
    }
    if (storage->outstanding == 0) {
        rt_slot_wake(&storage->idle);
    }
}

static rt_poll
poller_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct storage *storage = rt_container_of(task, struct storage, poller);
    for (;;) {
        reap(storage);
        submit_work(storage);
        rt_slot_replace(&storage->work, cx, "work");
        RT_AWAIT(rt_wait_for(&storage->wait, &storage->completions, cx));
    }
}

static void
poller_cleanup(struct rt_task *task)
{
    struct storage *storage = rt_container_of(task, struct storage, poller);
    rt_wait_cancel(&storage->wait);
    rt_pollable_drop(&storage->completions);
}

/* ---- Stopping. ------------------------------------------------------------------------------- */

struct client {
    struct rt_task task;
    struct storage *storage;
    struct retry_loop *awaited; /* The loop that stop() waits for. */
    bool written;
    bool stopping;
};

/* Ends when the loop that runs has ended, and then when nothing is outstanding. */
static rt_poll
storage_stop(struct client *client, struct rt_cx *cx)
{
    struct storage *storage = client->storage;
    if (!client->stopping) {
        client->stopping = true;
        client->awaited = storage->retrying;
        if (storage->broken) {
            storage->retrying = NULL;
        }
    }
    if (client->awaited != NULL && client->awaited->running) {
        rt_slot_replace(&client->awaited->joiner, cx, "the end of the retry loop");
        return RT_PENDING;
    }
    if (storage->outstanding > 0) {
        rt_slot_replace(&storage->idle, cx, "the last request");
        return RT_PENDING;
    }
    return RT_READY;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    struct storage *storage = client->storage;
    if (!client->written) {
        client->written = true;
        for (uint32_t i = 0; i < REQUESTS; i++) {
            storage->requests[i] = (struct request){(char)('a' + (char)i), true};
            storage->outstanding++;
            push(&storage->submissions, i);
        }
        rt_slot_wake(&storage->work);
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    return storage_stop(client, cx);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static const char *
audit_requests(void *argument)
{
    const struct storage *storage = argument;
    return storage->freed_twice ? "a request was freed twice" : NULL;
}

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct storage *storage = sim_new(world, struct storage);
    struct client *client = sim_new(world, struct client);
    struct sim_ring_options wide = {
            .submissions = 32, .completions = 32, .min_ns = 200 * RT_US, .max_ns = 2 * RT_MS};
    struct sim_ring *ring = sim_ring_new(sim_rt_host(rt), "disk", &wide);
    storage->broken = broken;
    storage->world = world;
    storage->rt = rt;
    storage->host = sim_ring_seam(ring);
    storage->file = sim_ring_device(ring, "file", NULL, 0, 1, 0, 0);
    rt_slot_init(&storage->work);
    rt_slot_init(&storage->idle);
    rt_wait_init(&storage->wait);
    SIM_ALWAYS(storage->host->ops->subscribe(storage->host, &storage->completions) == RT_OK);
    rt_task_init(&storage->poller, poller_poll, poller_cleanup, "poller");
    client->storage = storage;
    rt_task_init(&client->task, client_poll, NULL, "client");
    sim_audit_add(world, "storage", audit_requests, storage);
    sim_spawn_background(rt, &storage->poller);
    sim_spawn(rt, &client->task);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_seastar_510f314_broken, .name = "zoo/seastar-510f314/broken",
        .about = "stop() moves the retry loop's future out, and a second loop starts.",
        .setup = setup_broken, .expect = SIM_VERDICT_CONTRACT, .bug = "G13",
        .reference = "scylladb/seastar 510f314");
SIM_SCENARIO(zoo_seastar_510f314_fixed, .name = "zoo/seastar-510f314/fixed",
        .about = "stop() waits for the retry loop, and leaves its future in place.",
        .setup = setup_fixed);
