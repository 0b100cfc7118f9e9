/*
 * budget_resources_test.c -- what takes a unit of the budget (D12), resource by resource.
 *
 * Each row of `resources` is one kind of wait. A *stand* has one of them, and a task that polls it
 * over and over within one poll: where there is always something the budget ends that poll, where
 * there is nothing it stays whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/op.h"
#include "runtime/sync/channel.h"
#include "runtime/sync/mutex.h"
#include "runtime/sync/notify.h"
#include "runtime/sync/oneshot.h"
#include "runtime/sync/semaphore.h"
#include "runtime/tests/io/dumb_net.h"
#include "runtime/tests/io/dumb_ring.h"

#define UNITS 3u
#define SOURCE 7u

struct stand;

struct resource {
    const char *name;
    void (*init)(struct stand *stand);
    rt_poll (*poll)(struct stand *stand, struct rt_cx *cx); /* Fills it up first, unless dry. */
    void (*fini)(struct stand *stand);
};

static struct stand {
    const struct resource *resource;
    struct dumb_runtime *dumb; /* `plain`, or that of `driver`. */
    struct dumb_runtime plain;
    struct dumb_net net;
    struct dumb_driver driver;
    struct rt_task task;
    bool dry;
    bool begun; /* A future is made, and not READY. */
    uint32_t got;
    uint32_t left; /* Of the budget, after 2 * UNITS questions that found nothing. */

    struct rt_sleep sleep;
    struct rt_interval interval;
    struct rt_pollable pollable;
    struct rt_wait wait;
    struct rt_input input;
    struct rt_output output;
    struct rt_io_wait io_wait;
    struct rt_tcp_stream tcp;
    struct rt_op op;
    struct rt_task other;
    struct rt_semaphore semaphore;
    struct rt_acquire acquire;
    struct rt_mutex mutex;
    struct rt_lock lock;
    struct rt_notify notify;
    struct rt_notified notified;
    struct rt_oneshot oneshot;
    struct rt_oneshot_wait oneshot_wait;
    struct rt_channel channel;
    struct rt_send send;
    struct rt_reserve reserve;
    struct rt_recv recv;
    struct rt_group group;
    struct rt_slab_entry members[1];
    struct rt_group_member member;
    struct rt_stream stream;
    struct rt_slot slot;
} stand;

/* True when the future of `one` is to be made again. */
static bool
begins(struct stand *one)
{
    bool begun = one->begun;
    one->begun = true;
    return !begun;
}

static rt_poll
ended(struct stand *one, rt_poll answer)
{
    one->begun = answer == RT_PENDING;
    return answer;
}

static void
plain_init(struct stand *one)
{
    dumb_init(&one->plain);
    one->dumb = &one->plain;
}

static void
plain_fini(struct stand *one)
{
    dumb_fini(&one->plain);
}

/* ---- Time. ----------------------------------------------------------------------------------- */

static rt_poll
sleep_poll(struct stand *one, struct rt_cx *cx)
{
    if (begins(one)) {
        rt_sleep_until(&one->sleep, one->dry ? RT_SECOND : 0);
    }
    return ended(one, rt_sleep_poll(&one->sleep, cx));
}

static void
sleep_fini(struct stand *one)
{
    rt_sleep_cancel(&one->sleep);
    plain_fini(one);
}

static void
interval_init(struct stand *one)
{
    plain_init(one);
    one->plain.host.now_ns = one->dry ? 0 : RT_SECOND;
    rt_interval_init(&one->interval, 1, 1, RT_MISSED_BURST);
}

static rt_poll
interval_poll(struct stand *one, struct rt_cx *cx)
{
    return rt_interval_poll(&one->interval, cx, NULL);
}

static void
interval_fini(struct stand *one)
{
    rt_interval_cancel(&one->interval);
    plain_fini(one);
}

/* ---- Readiness and bytes. -------------------------------------------------------------------- */

static void
wait_init(struct stand *one)
{
    plain_init(one);
    dumb_subscribe(&one->plain.host, SOURCE, &one->pollable);
    one->plain.host.ready[SOURCE] = !one->dry;
    rt_wait_init(&one->wait);
}

static rt_poll
wait_poll(struct stand *one, struct rt_cx *cx)
{
    return rt_wait_for(&one->wait, &one->pollable, cx);
}

static void
wait_fini(struct stand *one)
{
    rt_wait_cancel(&one->wait);
    rt_pollable_drop(&one->pollable);
    plain_fini(one);
}

static rt_err
spring_read(void *stream, void *buffer, size_t size, size_t *ret_size, const struct rt_site *await)
{
    struct stand *one = stream;
    (void)size;
    (void)await;
    *(char *)buffer = 'x';
    *ret_size = one->dry ? 0 : 1;
    return RT_OK;
}

static rt_err
drain_write(void *stream, const void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    struct stand *one = stream;
    (void)buffer;
    (void)size;
    (void)await;
    *ret_size = one->dry ? 0 : 1;
    return RT_OK;
}

static rt_err
spring_subscribe(void *stream, struct rt_pollable *pollable)
{
    struct stand *one = stream;
    dumb_subscribe(&one->plain.host, SOURCE, pollable);
    return RT_OK;
}

static rt_err
spring_drop(void *stream)
{
    (void)stream;
    return RT_OK;
}

static const struct rt_input_ops spring_ops = {spring_read, spring_subscribe, spring_drop};
static const struct rt_output_ops drain_ops = {drain_write, spring_subscribe, spring_drop};

static void
read_init(struct stand *one)
{
    plain_init(one);
    EXPECT_EQ(rt_input_init(&one->input, &spring_ops, one), RT_OK);
}

static rt_poll
read_poll(struct stand *one, struct rt_cx *cx)
{
    char byte;
    struct rt_moved moved;
    return rt_read(&one->input, &byte, 1, cx, &moved);
}

static void
read_fini(struct stand *one)
{
    EXPECT_EQ(rt_input_drop(&one->input), RT_OK);
    plain_fini(one);
}

/* Ready, whether or not anything can be written. */
static void
write_init(struct stand *one)
{
    plain_init(one);
    one->plain.host.ready[SOURCE] = true;
    EXPECT_EQ(rt_output_init(&one->output, &drain_ops, one), RT_OK);
}

static rt_poll
write_poll(struct stand *one, struct rt_cx *cx)
{
    struct rt_moved moved;
    return rt_write(&one->output, "x", 1, cx, &moved);
}

static void
write_fini(struct stand *one)
{
    EXPECT_EQ(rt_output_drop(&one->output), RT_OK);
    plain_fini(one);
}

/* An open stream whose readiness is not known yet. */
static void
tcp_init(struct stand *one)
{
    dumb_net_init(&one->net, &one->plain);
    one->dumb = &one->plain;
    rt_tcp_stream_init(&one->tcp);
    int socket = dumb_open(&one->net);
    one->net.sockets[socket].readable = one->dry ? 0 : 1000;
    EXPECT_EQ(rt_io_register(one->net.io, &one->tcp.source, socket, RT_NET_READABLE), RT_OK);
    one->tcp.state = RT_TCP_OPEN;
    rt_io_wait_init(&one->io_wait);
}

static rt_poll
tcp_poll(struct stand *one, struct rt_cx *cx)
{
    char byte;
    struct rt_tcp_moved moved;
    return rt_tcp_read(&one->tcp, &one->io_wait, cx, &byte, 1, &moved);
}

static rt_poll
ready_poll(struct stand *one, struct rt_cx *cx)
{
    struct rt_seen seen;
    RT_AWAIT(rt_io_poll_ready(&one->tcp.source, one->dry ? RT_DIRECTION_WRITE : RT_DIRECTION_READ,
            &one->io_wait, cx, "it", &seen));
    return RT_READY;
}

static void
tcp_fini(struct stand *one)
{
    rt_io_wait_cancel(&one->io_wait);
    rt_tcp_close(&one->tcp);
    dumb_net_fini(&one->net, &one->plain);
}

/* An operation that is completed as often as it is asked. */
static void
op_init(struct stand *one)
{
    struct rt_op_request request = {
            .submission = {.opcode = RT_OPCODE_ACCEPT, .target = 1, .multi = true}};
    dumb_driver_init(&one->driver, 1, 1);
    one->dumb = &one->driver.dumb;
    rt_op_init(&one->op);
    rt_op_start(&one->op, &one->driver.ring, &request);
    rt_ring_turn(&one->driver.ring);
}

static rt_poll
op_poll(struct stand *one, struct rt_cx *cx)
{
    struct rt_op_result result;
    if (!one->dry && rt_budget_left(cx) > 0) {
        dumb_complete(&one->driver.host, 0, 1, true);
    }
    return rt_op_poll(&one->op, cx, &result);
}

static void
op_fini(struct stand *one)
{
    dumb_complete(&one->driver.host, 0, 1, false);
    rt_op_drop(&one->op);
    rt_ring_turn(&one->driver.ring);
    dumb_driver_fini(&one->driver);
}

/* ---- Tasks. ---------------------------------------------------------------------------------- */

static rt_poll
other_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)cx;
    return rt_container_of(task, struct stand, other)->dry ? RT_PARKED : RT_READY;
}

static void
join_init(struct stand *one)
{
    plain_init(one);
    rt_task_init(&one->other, other_poll, NULL, "other");
    EXPECT_EQ(rt_post(&one->plain.runtime.executor, &one->other), RT_OK);
    dumb_run(&one->plain);
}

static rt_poll
join_poll(struct stand *one, struct rt_cx *cx)
{
    return rt_task_join(&one->other, cx);
}

/* ---- Between tasks. -------------------------------------------------------------------------- */

static void
semaphore_init(struct stand *one)
{
    plain_init(one);
    rt_semaphore_init(&one->semaphore, one->dry ? 0 : 1000);
}

static rt_poll
semaphore_poll(struct stand *one, struct rt_cx *cx)
{
    if (begins(one)) {
        rt_acquire_init(&one->acquire, &one->semaphore, 1);
    }
    return ended(one, rt_acquire_poll(&one->acquire, cx));
}

static void
semaphore_fini(struct stand *one)
{
    rt_acquire_drop(&one->acquire);
    rt_semaphore_fini(&one->semaphore);
    plain_fini(one);
}

static void
mutex_init(struct stand *one)
{
    plain_init(one);
    rt_mutex_init(&one->mutex);
    EXPECT(!one->dry || rt_mutex_try_lock(&one->mutex));
}

static rt_poll
mutex_poll(struct stand *one, struct rt_cx *cx)
{
    if (begins(one)) {
        rt_lock_init(&one->lock, &one->mutex);
    }
    RT_AWAIT(ended(one, rt_lock_poll(&one->lock, cx)));
    rt_mutex_unlock(&one->mutex);
    return RT_READY;
}

static void
mutex_fini(struct stand *one)
{
    rt_lock_drop(&one->lock);
    if (one->dry) {
        rt_mutex_unlock(&one->mutex);
    }
    rt_mutex_fini(&one->mutex);
    plain_fini(one);
}

static void
notify_init(struct stand *one)
{
    plain_init(one);
    rt_notify_init(&one->notify);
}

static rt_poll
notify_poll(struct stand *one, struct rt_cx *cx)
{
    if (!one->dry) {
        rt_notify_one(&one->notify);
    }
    if (begins(one)) {
        rt_notified_init(&one->notified, &one->notify);
    }
    return ended(one, rt_notified_poll(&one->notified, cx));
}

static void
notify_fini(struct stand *one)
{
    rt_notified_drop(&one->notified);
    rt_notify_fini(&one->notify);
    plain_fini(one);
}

static void
oneshot_init(struct stand *one)
{
    plain_init(one);
    rt_oneshot_init(&one->oneshot);
}

static rt_poll
oneshot_poll(struct stand *one, struct rt_cx *cx)
{
    if (begins(one)) {
        rt_oneshot_init(&one->oneshot);
        EXPECT(one->dry || rt_oneshot_send(&one->oneshot, NULL) == RT_OK);
        rt_oneshot_wait_init(&one->oneshot_wait, &one->oneshot);
    }
    RT_AWAIT(ended(one, rt_oneshot_poll(&one->oneshot_wait, cx)));
    (void)rt_oneshot_fini(&one->oneshot);
    return RT_READY;
}

static void
oneshot_fini(struct stand *one)
{
    rt_oneshot_wait_drop(&one->oneshot_wait);
    (void)rt_oneshot_fini(&one->oneshot);
    plain_fini(one);
}

static void
channel_init(struct stand *one)
{
    plain_init(one);
    rt_channel_init(&one->channel, &(struct rt_channel_config){.capacity = 1});
}

static void
channel_fini(struct stand *one)
{
    rt_channel_drop_handle(&one->channel);
    rt_channel_fini(&one->channel);
    plain_fini(one);
}

/* Full where nothing is to be had: the item goes with the last handle. */
static void
capacity_init(struct stand *one)
{
    channel_init(one);
    EXPECT(!one->dry || rt_channel_try_send(&one->channel, NULL) == RT_OK);
}

static rt_poll
send_poll(struct stand *one, struct rt_cx *cx)
{
    if (begins(one)) {
        rt_send_init(&one->send, &one->channel, NULL);
    }
    RT_AWAIT(ended(one, rt_send_poll(&one->send, cx)));
    return rt_channel_try_recv(&one->channel, NULL) == RT_OK ? RT_READY : RT_PENDING;
}

static void
send_fini(struct stand *one)
{
    rt_send_drop(&one->send);
    channel_fini(one);
}

static rt_poll
reserve_poll(struct stand *one, struct rt_cx *cx)
{
    if (begins(one)) {
        rt_reserve_init(&one->reserve, &one->channel);
    }
    RT_AWAIT(ended(one, rt_reserve_poll(&one->reserve, cx)));
    rt_permit_drop(&one->reserve.permit);
    return RT_READY;
}

static void
reserve_fini(struct stand *one)
{
    rt_reserve_drop(&one->reserve);
    channel_fini(one);
}

static rt_poll
recv_poll(struct stand *one, struct rt_cx *cx)
{
    if (begins(one)) {
        EXPECT(one->dry || rt_channel_try_send(&one->channel, NULL) == RT_OK);
        rt_recv_init(&one->recv, &one->channel, NULL);
    }
    return ended(one, rt_recv_poll(&one->recv, cx));
}

static void
recv_fini(struct stand *one)
{
    rt_recv_drop(&one->recv);
    channel_fini(one);
}

/* ---- Streams. -------------------------------------------------------------------------------- */

static struct stand *
stand_of(struct rt_stream *stream)
{
    return rt_container_of(stream, struct stand, stream);
}

/* A stream that knows nothing of budgets. */
static rt_poll
member_poll(struct rt_stream *stream, struct rt_cx *cx, void **ret_item)
{
    struct stand *one = stand_of(stream);
    if (one->dry) {
        rt_slot_replace(&one->slot, cx, "never");
        return RT_PENDING;
    }
    *ret_item = one;
    return RT_READY;
}

/* A stream that takes its items where a unit is taken for each. */
static rt_poll
counted_poll(struct rt_stream *stream, struct rt_cx *cx, void **ret_item)
{
    struct stand *one = stand_of(stream);
    RT_AWAIT(semaphore_poll(one, cx));
    *ret_item = one;
    return RT_READY;
}

static void
group_begin(struct stand *one, rt_stream_poll_fn poll)
{
    struct rt_key key;
    rt_slot_init(&one->slot);
    rt_stream_init(&one->stream, poll, NULL, "member");
    rt_group_init(&one->group, one->members, 1);
    EXPECT_EQ(rt_group_insert(&one->group, &one->member, &one->stream, &key), RT_OK);
}

static void
group_init(struct stand *one)
{
    plain_init(one);
    group_begin(one, member_poll);
}

static void
counted_init(struct stand *one)
{
    semaphore_init(one);
    group_begin(one, counted_poll);
}

static rt_poll
group_poll(struct stand *one, struct rt_cx *cx)
{
    void *item;
    return rt_group_poll(&one->group, cx, NULL, &item);
}

static void
group_fini(struct stand *one)
{
    rt_group_drop(&one->group);
    (void)rt_slot_clear(&one->slot);
    plain_fini(one);
}

static void
counted_fini(struct stand *one)
{
    rt_group_drop(&one->group);
    semaphore_fini(one);
}

/* ---- All of them. ---------------------------------------------------------------------------- */

static const struct resource resources[] = {
        {"sleep", plain_init, sleep_poll, sleep_fini},
        {"interval", interval_init, interval_poll, interval_fini},
        {"rt_wait_for", wait_init, wait_poll, wait_fini},
        {"rt_read", read_init, read_poll, read_fini},
        {"rt_write", write_init, write_poll, write_fini},
        {"rt_io_poll_ready", tcp_init, ready_poll, tcp_fini},
        {"rt_tcp_read", tcp_init, tcp_poll, tcp_fini},
        {"rt_op_poll", op_init, op_poll, op_fini},
        {"join", join_init, join_poll, plain_fini},
        {"semaphore", semaphore_init, semaphore_poll, semaphore_fini},
        {"mutex", mutex_init, mutex_poll, mutex_fini},
        {"notify", notify_init, notify_poll, notify_fini},
        {"oneshot", oneshot_init, oneshot_poll, oneshot_fini},
        {"send", capacity_init, send_poll, send_fini},
        {"reserve", capacity_init, reserve_poll, reserve_fini},
        {"receive", channel_init, recv_poll, recv_fini},
        {"group", group_init, group_poll, group_fini},
        {"group of what counts", counted_init, group_poll, counted_fini},
};

static rt_poll
asker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct stand *one = rt_container_of(task, struct stand, task);
    for (uint32_t i = 0; one->dry && i < 2 * UNITS; i++) {
        ck_assert_msg(one->resource->poll(one, cx) == RT_PENDING, "%s", one->resource->name);
        one->left = rt_budget_left(cx);
    }
    for (; !one->dry && one->got < 100 * UNITS; one->got++) {
        RT_AWAIT(one->resource->poll(one, cx));
    }
    return RT_PENDING;
}

static void
stand_init(const struct resource *resource, bool dry)
{
    stand = (struct stand){.resource = resource, .dry = dry};
    resource->init(&stand);
    stand.dumb->runtime.executor.budget = UNITS;
    rt_task_init(&stand.task, asker_poll, NULL, resource->name);
    EXPECT_EQ(rt_post(&stand.dumb->runtime.executor, &stand.task), RT_OK);
}

static void
stand_fini(void)
{
    rt_task_cancel(&stand.task);
    stand.resource->fini(&stand);
}

static void
one_poll(void)
{
    struct rt_run_result result;
    EXPECT_EQ(rt_run_until_stalled(&stand.dumb->runtime.executor, 1, &result), RT_OK);
}

/* Holds D12. Goal: a task that polls what is always ready yields after so many units, whatever it
 * is, and continues where it was. */
TEST(budget_of_each_resource_ends_the_poll)
{
    for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
        const char *name = resources[i].name;
        stand_init(&resources[i], false);
        one_poll();
        ck_assert_msg(stand.got == UNITS, "%s: %u of %u", name, stand.got, UNITS);
        EXPECT(rt_task_posted(&stand.task));
        one_poll();
        ck_assert_msg(stand.got == 2 * UNITS, "%s: %u of %u", name, stand.got, 2 * UNITS);
        stand_fini();
    }
}

/* Holds D12. Goal: a poll that finds nothing costs nothing (tokio#2549), and neither does false
 * readiness. */
TEST(budget_of_each_resource_is_whole_where_there_is_nothing)
{
    for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
        stand_init(&resources[i], true);
        one_poll();
        ck_assert_msg(stand.left == UNITS, "%s: %u left", resources[i].name, stand.left);
        stand_fini();
    }
}
