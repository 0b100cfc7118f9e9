/*
 * shard_threads_test.c -- shards on real threads: nothing is lost, no shard sleeps on work.
 *
 * Worth most under tsan (make check-tsan), which sees a missing order; a missed waiter is a test
 * that does not end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "runtime/tests/shard/house.h"

#define CALLS 1500u /* Of each shard. */
#define ALIENS 500u
#define PINGS 1000u

/* A host that can only be notified. */
struct thread_host {
    struct rt_host seam;
    struct rt_host_ops ops;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool notified;
};

struct city;

struct street {
    struct house_unit unit; /* Its dumb host is not used, but for the memory around it. */
    struct thread_host host;
    struct city *city;
    pthread_t thread;
    atomic_bool started;
    struct rt_task caller;
    struct rt_submit submit;
    bool asking;
    uint32_t asked;
    uint32_t served; /* Its own thread's. */
    struct rt_task pinged;
    struct rt_slot slot;
    uint32_t pings_seen;
};

struct city {
    struct rt_shards shards;
    struct rt_shard *members[HOUSE_SHARDS];
    struct rt_pipe pipes[HOUSE_SHARDS * HOUSE_SHARDS];
    struct rt_message *places[HOUSE_SHARDS * HOUSE_SHARDS * HOUSE_LANE];
    struct street streets[HOUSE_SHARDS];
    atomic_uint pings; /* Published before the wake. */
    atomic_uint busy;  /* Tasks that are not done. */
    struct rt_remote pinged;
    atomic_bool pinged_known;
};

static uint64_t
host_now(struct rt_host *seam)
{
    (void)seam;
    return 0;
}

static rt_err
host_subscribe(struct rt_host *seam, enum rt_subscribe what, uint64_t argument,
        struct rt_pollable *pollable)
{
    (void)argument;
    EXPECT_EQ(what, RT_SUBSCRIBE_NOTIFY);
    *pollable = (struct rt_pollable){.object = {RT_POLLABLE_MAGIC, 1}, .host = seam};
    return RT_OK;
}

static bool
host_ready(struct rt_host *seam, const struct rt_pollable *pollable)
{
    (void)seam;
    (void)pollable;
    return false;
}

static rt_err
host_poll(struct rt_host *seam, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready)
{
    struct thread_host *host = rt_container_of(seam, struct thread_host, seam);
    (void)in;
    EXPECT_EQ(count, 1);
    ck_assert_int_eq(pthread_mutex_lock(&host->mutex), 0);
    while (!host->notified) {
        ck_assert_int_eq(pthread_cond_wait(&host->changed, &host->mutex), 0);
    }
    host->notified = false;
    ck_assert_int_eq(pthread_mutex_unlock(&host->mutex), 0);
    ret_indices[0] = 0;
    *ret_ready = 1;
    return RT_OK;
}

static void
host_drop(struct rt_host *seam, struct rt_pollable *pollable)
{
    (void)seam;
    (void)pollable;
}

static void
host_notify(struct rt_host *seam)
{
    struct thread_host *host = rt_container_of(seam, struct thread_host, seam);
    ck_assert_int_eq(pthread_mutex_lock(&host->mutex), 0);
    host->notified = true;
    ck_assert_int_eq(pthread_cond_signal(&host->changed), 0);
    ck_assert_int_eq(pthread_mutex_unlock(&host->mutex), 0);
}

static void
thread_host_init(struct thread_host *host)
{
    host->ops = (struct rt_host_ops){
            host_now, host_subscribe, host_ready, host_poll, host_drop, host_notify};
    host->seam = (struct rt_host){.magic = RT_HOST_MAGIC, .ops = &host->ops};
    ck_assert_int_eq(pthread_mutex_init(&host->mutex, NULL), 0);
    ck_assert_int_eq(pthread_cond_init(&host->changed, NULL), 0);
    host->notified = false;
}

/* Before its thread has started, the main thread may do everything. */
static bool
on_own_thread(void *argument)
{
    const struct street *street = argument;
    return !atomic_load(&street->started) || pthread_equal(street->thread, pthread_self()) != 0;
}

/* ---- What the shards do. --------------------------------------------------------------------- */

static void
serve(struct rt_message *message, struct rt_shard *shard)
{
    struct street *street = rt_container_of(shard, struct street, unit.shard);
    street->served++;
    rt_message_answer(message, shard, RT_OK);
}

static rt_poll
caller_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct street *street = rt_container_of(task, struct street, caller);
    EXPECT(on_own_thread(street));
    while (street->asked < CALLS) {
        if (!street->asking) {
            street->asking = true;
            uint32_t to = (street->unit.shard.number + 1 + street->asked) % HOUSE_SHARDS;
            rt_submit_to(&street->submit, &street->unit.shard, to, serve);
        }
        RT_AWAIT(rt_future_poll(&street->submit.future, cx));
        EXPECT_EQ(street->submit.message.result, RT_OK);
        street->asking = false;
        street->asked++;
    }
    atomic_fetch_sub(&street->city->busy, 1);
    return RT_READY;
}

/* Counts up to PINGS, woken by name from a thread that is no shard. */
static rt_poll
pinged_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct street *street = rt_container_of(task, struct street, pinged);
    struct city *city = street->city;
    (void)rt_remote_wait(&street->unit.shard, &street->slot, cx, "a ping");
    if (!atomic_load(&city->pinged_known)) {
        city->pinged = rt_remote_of(&street->unit.shard, task);
        atomic_store(&city->pinged_known, true);
    }
    street->pings_seen = atomic_load(&city->pings);
    if (street->pings_seen < PINGS) {
        return RT_PENDING;
    }
    atomic_fetch_sub(&city->busy, 1);
    return RT_READY;
}

static void *
street_main(void *argument)
{
    struct street *street = argument;
    street->thread = pthread_self();
    atomic_store(&street->started, true);
    EXPECT_EQ(rt_shard_run(&street->unit.shard), RT_OK);
    return NULL;
}

static void
street_init(struct city *city, uint32_t number)
{
    struct street *street = &city->streets[number];
    memset(street, 0, sizeof(*street));
    street->city = city;
    atomic_init(&street->started, false);
    thread_host_init(&street->host);
    struct rt_runtime_config runtime = dumb_config(&street->unit.dumb);
    runtime.host = &street->host.seam;
    rt_runtime_init(&street->unit.dumb.runtime, &runtime);
    struct rt_shard_config config = {
            .runtime = &street->unit.dumb.runtime,
            .cells = street->unit.cells,
            .here = on_own_thread,
            .argument = street,
    };
    EXPECT_EQ(rt_shard_init(&street->unit.shard, &city->shards, number, &config), RT_OK);
    rt_task_init(&street->caller, caller_poll, NULL, "caller");
    EXPECT_EQ(rt_post(&street->unit.dumb.runtime.executor, &street->caller), RT_OK);
}

static void
city_init(struct city *city)
{
    struct rt_shards_config config = {
            HOUSE_SHARDS, city->members, city->pipes, city->places, HOUSE_LANE};
    rt_shards_init(&city->shards, &config);
    atomic_init(&city->pings, 0);
    atomic_init(&city->busy, HOUSE_SHARDS + 1);
    atomic_init(&city->pinged_known, false);
    for (uint32_t i = 0; i < HOUSE_SHARDS; i++) {
        street_init(city, i);
    }
    struct street *first = &city->streets[0];
    rt_slot_init(&first->slot);
    rt_task_init(&first->pinged, pinged_poll, NULL, "pinged");
    EXPECT_EQ(rt_post(&first->unit.dumb.runtime.executor, &first->pinged), RT_OK);
}

/* An alien: sends one message after the other, and waits for each. */
static uint32_t
be_an_alien(struct city *city)
{
    uint32_t answered = 0;
    for (uint32_t i = 0; i < ALIENS; i++) {
        struct rt_message message;
        rt_message_init(&message, serve, NULL);
        EXPECT_EQ(rt_alien_submit(&message, city->members[i % HOUSE_SHARDS]), RT_OK);
        while (!rt_message_is_idle(&message)) {
            sched_yield();
        }
        answered++;
    }
    return answered;
}

static void
ping(struct city *city)
{
    while (!atomic_load(&city->pinged_known)) {
        sched_yield();
    }
    for (uint32_t i = 0; i < PINGS; i++) {
        atomic_fetch_add(&city->pings, 1);
        rt_remote_wake(&city->pinged);
    }
}

/* Goal: on real threads, with small lanes, every call and every alien is served once, the last wake
 * is seen, and the closing ends all loops. Method: three shards call round about, the main thread
 * is the alien and the pinger. Holds X1, X3, X4, X5, X7. */
TEST(shard_threads_serve_every_request_once)
{
    struct city *city = malloc(sizeof(*city));
    ck_assert_ptr_nonnull(city);
    city_init(city);
    for (uint32_t i = 0; i < HOUSE_SHARDS; i++) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, street_main, &city->streets[i]), 0);
        while (!atomic_load(&city->streets[i].started)) {
            sched_yield();
        }
    }
    EXPECT_EQ(be_an_alien(city), ALIENS);
    ping(city);
    while (atomic_load(&city->busy) != 0) {
        sched_yield();
    }
    rt_shards_close(&city->shards);
    uint32_t served = 0;
    for (uint32_t i = 0; i < HOUSE_SHARDS; i++) {
        ck_assert_int_eq(pthread_join(city->streets[i].thread, NULL), 0);
        served += city->streets[i].served;
    }
    EXPECT_EQ(served, HOUSE_SHARDS * CALLS + ALIENS);
    EXPECT_EQ(city->streets[0].pings_seen, PINGS);
    for (uint32_t i = 0; i < HOUSE_SHARDS; i++) {
        rt_shard_fini(city->members[i]);
        rt_runtime_fini(&city->streets[i].unit.dumb.runtime);
    }
    free(city);
}
