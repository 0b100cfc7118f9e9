/*
 * channel_futures.c -- send, reserve, receive: the three waits of a channel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "runtime/sync/internal.h"

#include "runtime/base/banned.h"

/* READY with `*ret_err`: the caller has capacity for an item, or the channel is closed. */
static rt_poll
poll_capacity(struct rt_waiter *waiter, struct rt_channel *channel, struct rt_cx *cx,
        rt_err *ret_err, const struct rt_site *await)
{
    rt_check(&channel->object, RT__CHANNEL_MAGIC);
    if (channel->closed) {
        rt_waiter_leave(waiter, &channel->room, await);
        *ret_err = RT_E_CLOSED;
        return RT_READY;
    }
    RT_AWAIT(rt_waiter_poll(waiter, &channel->room, cx, "capacity in the channel", RT_HERE, await));
    *ret_err = RT_OK;
    return RT_READY;
}

static struct rt_send *
send_of(struct rt_future *future)
{
    return rt_container_of(future, struct rt_send, future);
}

static rt_poll
send_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct rt_send *send = send_of(future);
    RT_AWAIT(poll_capacity(&send->waiter, send->channel, cx, &send->err, send->await));
    if (send->err == RT_OK) {
        rt__channel_push(send->channel, send->item, send->await);
    }
    return RT_READY;
}

static void
send_drop(struct rt_future *future)
{
    struct rt_send *send = send_of(future);
    rt_waiter_leave(&send->waiter, &send->channel->room, send->await);
}

static struct rt_reserve *
reserve_of(struct rt_future *future)
{
    return rt_container_of(future, struct rt_reserve, future);
}

static rt_poll
reserve_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct rt_reserve *reserve = reserve_of(future);
    struct rt_channel *channel = reserve->channel;
    RT_AWAIT(poll_capacity(&reserve->waiter, channel, cx, &reserve->err, reserve->await));
    if (reserve->err == RT_OK) {
        channel->permits++;
        reserve->permit.channel = channel;
        RT_PROBE(CONSUME, channel->object.id, RT_HERE, reserve->await, 1);
    }
    return RT_READY;
}

static void
reserve_drop(struct rt_future *future)
{
    struct rt_reserve *reserve = reserve_of(future);
    rt_waiter_leave(&reserve->waiter, &reserve->channel->room, reserve->await);
}

static struct rt_recv *
recv_of(struct rt_future *future)
{
    return rt_container_of(future, struct rt_recv, future);
}

static rt_poll
recv_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct rt_recv *recv = recv_of(future);
    struct rt_channel *channel = recv->channel;
    rt_check(&channel->object, RT__CHANNEL_MAGIC);
    if (rt__channel_ended(channel)) {
        rt_waiter_leave(&recv->waiter, &channel->items, recv->await);
        recv->err = RT_E_CLOSED;
        return RT_READY;
    }
    RT_AWAIT(rt_waiter_poll(
            &recv->waiter, &channel->items, cx, "an item in the channel", RT_HERE, recv->await));
    rt__channel_pop(channel, recv->item, recv->await);
    recv->err = RT_OK;
    return RT_READY;
}

static void
recv_drop(struct rt_future *future)
{
    struct rt_recv *recv = recv_of(future);
    rt_waiter_leave(&recv->waiter, &recv->channel->items, recv->await);
}

void
rt_send_init_at(struct rt_send *send, struct rt_channel *channel, const void *item,
        const struct rt_site *await)
{
    rt_assert(send != NULL);
    rt_check(&channel->object, RT__CHANNEL_MAGIC);
    rt_assert(item != NULL || channel->config.item_size == 0);
    send->channel = channel;
    send->item = item;
    send->await = await;
    send->err = RT_E_AGAIN;
    rt_future_init(&send->future, send_poll, send_drop, "send");
    rt_waiter_init(&send->waiter, 1);
}

rt_poll
rt_send_poll_at(struct rt_send *send, struct rt_cx *cx, const struct rt_site *await)
{
    rt_assert(send != NULL);
    send->await = await;
    return rt_future_poll(&send->future, cx);
}

void
rt_send_drop_at(struct rt_send *send, const struct rt_site *await)
{
    rt_assert(send != NULL);
    send->await = await;
    rt_future_drop(&send->future);
}

void
rt_reserve_init_at(
        struct rt_reserve *reserve, struct rt_channel *channel, const struct rt_site *await)
{
    rt_assert(reserve != NULL);
    rt_check(&channel->object, RT__CHANNEL_MAGIC);
    reserve->channel = channel;
    reserve->await = await;
    reserve->permit.channel = NULL;
    reserve->err = RT_E_AGAIN;
    rt_future_init(&reserve->future, reserve_poll, reserve_drop, "reserve");
    rt_waiter_init(&reserve->waiter, 1);
}

rt_poll
rt_reserve_poll_at(struct rt_reserve *reserve, struct rt_cx *cx, const struct rt_site *await)
{
    rt_assert(reserve != NULL);
    reserve->await = await;
    return rt_future_poll(&reserve->future, cx);
}

void
rt_reserve_drop_at(struct rt_reserve *reserve, const struct rt_site *await)
{
    rt_assert(reserve != NULL);
    reserve->await = await;
    rt_future_drop(&reserve->future);
}

void
rt_recv_init_at(struct rt_recv *recv, struct rt_channel *channel, void *ret_item,
        const struct rt_site *await)
{
    rt_assert(recv != NULL);
    rt_check(&channel->object, RT__CHANNEL_MAGIC);
    rt_assert(ret_item != NULL || channel->config.item_size == 0);
    recv->channel = channel;
    recv->item = ret_item;
    recv->await = await;
    recv->err = RT_E_AGAIN;
    rt_future_init(&recv->future, recv_poll, recv_drop, "receive");
    rt_waiter_init(&recv->waiter, 1);
}

rt_poll
rt_recv_poll_at(struct rt_recv *recv, struct rt_cx *cx, const struct rt_site *await)
{
    rt_assert(recv != NULL);
    recv->await = await;
    return rt_future_poll(&recv->future, cx);
}

void
rt_recv_drop_at(struct rt_recv *recv, const struct rt_site *await)
{
    rt_assert(recv != NULL);
    recv->await = await;
    rt_future_drop(&recv->future);
}
