/*
 * guest_transform.c -- guests on the reactor's own thread (S2): records through a transform.
 *
 * The program of the article, after its change. Each transform is a guest on a fiber. Its host
 * function read_record starts a read and leaves a future in the side channel; the task that drives
 * the call takes it and waits for it, while the reactor runs other tasks. write_record usually has
 * space and then returns at once: the fast path, no suspend. Between the records the guest
 * computes, is charged fuel, and yields when its interval is used up; it continues until its task
 * has used up the quota of 500 us, and then yields to other tasks (maybe_yield).
 *
 * Two transforms share one thread; a heartbeat beside them has to run every 2 ms. Their tasks are
 * cancelled anywhere: in a read, at a yield, before they ran. Then the call is deleted, the read
 * continues, and its result is dropped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/fiber/call.h"
#include "runtime/fiber/reply.h"
#include "sim/rewake.h"

#define RECORD 8
#define RECORDS 5
#define INTERVAL 40000 /* Units of fuel between two yields: 40 us. */
#define PER_BYTE 12000 /* What the transform of a byte costs; a record takes 96 us. */
#define FUEL 10000000
#define BEATS 4

struct transform {
    struct rt_task task;
    struct sim_rt *rt;
    const char *text;
    struct rt_store store;
    struct rt_call call;
    uint64_t records; /* What the guest returns. */
    enum rt_trap trap;
    bool cancelled;

    /* The read in flight. It may outlive the call. */
    struct rt_task reader;
    struct sim_input *input;
    struct rt_pollable readable;
    struct rt_wait wait;
    struct rt_reply reply;
    struct rt_slot asked;
    bool wanted;
    bool closed; /* The reader is gone: there are no more records. */
    char read[RECORD + 1];
    size_t got;

    char record[RECORD]; /* The guest's own memory. */
    char written[RECORDS * RECORD + 1];
    size_t written_count;
};

struct state {
    struct rt_engine *engine;
    struct transform transforms[2];
    struct rt_task heart;
    struct rt_sleep nap;
    uint32_t beats;
};

static const char *const texts[2] = {
        "once upon a time, there was a princess. ",
        "the quick brown fox jumps over lazy dogs",
};

/* ---- The guest. It knows of no host but its two functions. ----------------------------------- */

static void host_read_record(struct rt_host_call *host);
static void host_write_record(struct rt_host_call *host);

static bool
to_upper(struct rt_guest *guest, char *record, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++) {
        if (!rt_guest_check(guest, PER_BYTE)) {
            return false;
        }
        record[i] = (char)(record[i] >= 'a' && record[i] <= 'z' ? record[i] - 32 : record[i]);
    }
    return true;
}

static void
transform_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    struct transform *transform = guest->store->data;
    uint64_t size = 0;
    (void)arguments;
    for (;;) {
        if (!rt_guest_host(guest, host_read_record, NULL, &size)) {
            return;
        }
        if (size == 0) {
            return;
        }
        if (!to_upper(guest, transform->record, size) ||
                !rt_guest_host(guest, host_write_record, &size, NULL)) {
            return;
        }
        results[0]++;
    }
}

/* ---- Its host functions. --------------------------------------------------------------------- */

/* Completes the reply with what was read, if anything. */
static void
answer(struct transform *transform)
{
    uint64_t size = transform->got;
    if (rt_reply_wanted(&transform->reply)) {
        memcpy(transform->record, transform->read, transform->got);
    }
    transform->got = 0;
    transform->wanted = false;
    (void)rt_reply_complete(&transform->reply, &size, 1);
}

/* invoke_async_host_fn: starts the reader; the driver awaits the reply. */
static void
host_read_record(struct rt_host_call *host)
{
    struct transform *transform = host->guest->store->data;
    rt_reply_begin(&transform->reply, host);
    transform->wanted = true;
    if (transform->closed) {
        answer(transform);
    } else {
        (void)rt_slot_wake(&transform->asked);
    }
}

static void
host_write_record(struct rt_host_call *host)
{
    struct transform *transform = host->guest->store->data;
    size_t size = (size_t)host->arguments[0];
    SIM_ALWAYS(transform->written_count + size < sizeof(transform->written));
    memcpy(transform->written + transform->written_count, transform->record, size);
    transform->written_count += size;
    host->continuation.callback = rt_answered;
}

/* ---- The reactor's side of a read: a task that fills a record on request. -------------------- */

/* READY: a whole record, or the end of the input. */
static rt_poll
fill_record(struct transform *transform, struct rt_cx *cx)
{
    while (transform->got < RECORD) {
        size_t size = 0;
        rt_err err = sim_input_read(
                transform->input, transform->read + transform->got, RECORD - transform->got, &size);
        if (err == RT_E_CLOSED) {
            return RT_READY;
        }
        if (err == RT_E_AGAIN) {
            RT_AWAIT(rt_wait_for(&transform->wait, &transform->readable, cx));
        }
        transform->got += size;
    }
    return RT_READY;
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct transform *transform = rt_container_of(task, struct transform, reader);
    for (;;) {
        if (!transform->wanted) {
            rt_slot_replace(&transform->asked, cx, "a request for a record");
            return RT_PENDING;
        }
        RT_AWAIT(fill_record(transform, cx));
        answer(transform);
    }
}

static void
reader_cleanup(struct rt_task *task)
{
    struct transform *transform = rt_container_of(task, struct transform, reader);
    rt_wait_cancel(&transform->wait);
    rt_pollable_drop(&transform->readable);
    transform->closed = true;
    transform->got = 0;
    if (transform->wanted) {
        answer(transform); /* No further read: the end, as far as its guest is concerned. */
    }
}

/* ---- The engine's poll loop: wasmtime_engine::call. ------------------------------------------ */

static rt_poll
transform_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct transform *transform = rt_container_of(task, struct transform, task);
    return rt_call_drive(&transform->call, cx);
}

static void
transform_cleanup(struct rt_task *task)
{
    struct transform *transform = rt_container_of(task, struct transform, task);
    transform->cancelled = !rt_call_complete(&transform->call);
    rt_call_delete(&transform->call);
    rt_store_fini(&transform->store);
}

/* ---- Another task of the thread. ------------------------------------------------------------- */

static rt_poll
heart_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, heart);
    while (state->beats < BEATS) {
        RT_AWAIT(rt_sleep_poll(&state->nap, cx));
        rt_sleep_init(&state->nap, 2 * RT_MS);
        state->beats++;
    }
    return RT_READY;
}

static void
heart_cleanup(struct rt_task *task)
{
    rt_sleep_cancel(&rt_container_of(task, struct state, heart)->nap);
}

static void
transform_init(
        struct transform *transform, struct sim_rt *rt, struct rt_engine *engine, const char *text)
{
    struct rt_call_config config = {
            .guest = transform_guest,
            .results = &transform->records,
            .result_count = 1,
            .trap = &transform->trap,
            .name = "transform",
    };
    transform->rt = rt;
    transform->text = text;
    transform->input = sim_input_new(
            sim_rt_host(rt), "records", text, RECORDS * RECORD, 6, 50 * RT_US, 2 * RT_MS);
    SIM_ALWAYS(sim_input_subscribe(transform->input, &transform->readable) == RT_OK);
    rt_wait_init(&transform->wait);
    rt_slot_init(&transform->asked);
    rt_reply_init(&transform->reply, "the next record");
    rt_store_init(&transform->store, engine, transform);
    rt_fuel_set(&transform->store, FUEL);
    rt_fuel_yield_interval(&transform->store, INTERVAL);
    SIM_ALWAYS(rt_call_init(&transform->call, &transform->store, &config) == RT_OK);
    rt_task_init(&transform->task, transform_poll, transform_cleanup, "transform");
    rt_task_init(&transform->reader, reader_poll, reader_cleanup, "reader");
    sim_spawn(rt, &transform->task);
    sim_spawn_background(rt, &transform->reader);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.task_quota_ns = RT_TASK_QUOTA_NS};
    struct state *state = sim_new(world, struct state);
    struct sim_rt *rt = sim_rt_new(world, &options);
    state->engine = sim_engine_new(world, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        transform_init(&state->transforms[i], rt, state->engine, texts[i]);
    }
    rt_sleep_init(&state->nap, 2 * RT_MS);
    rt_task_init(&state->heart, heart_poll, heart_cleanup, "heart");
    sim_spawn(rt, &state->heart);
    sim_set_state(world, state);
}

/* Checks what has been written, whole or in part. */
static void
check_transform(const struct transform *transform)
{
    for (size_t i = 0; i < transform->written_count; i++) {
        char c = transform->text[i];
        SIM_ALWAYS(transform->written[i] == (c >= 'a' && c <= 'z' ? c - 32 : c));
    }
    SIM_ALWAYS(transform->written_count % RECORD == 0);
}

static void
check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    (void)world;
    for (uint32_t i = 0; i < 2; i++) {
        const struct transform *transform = &state->transforms[i];
        check_transform(transform);
        SIM_ALWAYS(transform->cancelled || transform->trap == RT_TRAP_NONE);
    }
    rt_engine_fini(state->engine);
}

/* It assumes that the host has capacity for a pollable. */
SIM_SCENARIO(seed2_guest_transform, .name = "articles/s2/guest-transform",
        .about = "Guests on fibers transform records; a side channel says what they wait for.",
        .setup = setup, .check = check, .survives = SIM_FAULT_ALL & ~SIM_FAULT_CAPACITY);
