/*
 * channel_test.c -- full, empty, reserved, closed; and what a leaving waiter wakes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/channel.h"

#include "runtime/tests/sync/crowd.h"

#define CAPACITY 2

struct rig {
    struct crowd crowd;
    struct rt_channel channel;
    int ring[CAPACITY];
    struct rt_send sends[CROWD];
    struct rt_reserve reserves[CROWD];
    struct rt_recv recvs[CROWD];
    int out[CROWD]; /* What is sent … */
    int in[CROWD];  /* … and received. */
    int destroyed;  /* Items that were not read, as the sum of their values. */
};

static void
destroy(const void *item, void *argument)
{
    struct rig *rig = argument;
    rig->destroyed += *(const int *)item;
}

/* One sender, one receiver, no handle. */
static void
rig_init(struct rig *rig)
{
    crowd_init(&rig->crowd);
    rig->destroyed = 0;
    struct rt_channel_config config = {
            .ring = rig->ring,
            .item_size = sizeof(rig->ring[0]),
            .capacity = CAPACITY,
            .destroy = destroy,
            .argument = rig,
    };
    rt_channel_init(&rig->channel, &config);
    rt_channel_add_sender(&rig->channel);
    rt_channel_add_receiver(&rig->channel);
    rt_channel_drop_handle(&rig->channel);
}

static rt_poll
send_again(struct rig *rig, int i)
{
    return rt_send_poll(&rig->sends[i], crowd_cx(&rig->crowd, i));
}

static rt_poll
send(struct rig *rig, int i, int value)
{
    rig->out[i] = value;
    rt_send_init(&rig->sends[i], &rig->channel, &rig->out[i]);
    return send_again(rig, i);
}

static rt_poll
recv_again(struct rig *rig, int i)
{
    return rt_recv_poll(&rig->recvs[i], crowd_cx(&rig->crowd, i));
}

static rt_poll
recv(struct rig *rig, int i)
{
    rig->in[i] = -1;
    rt_recv_init(&rig->recvs[i], &rig->channel, &rig->in[i]);
    return recv_again(rig, i);
}

static rt_poll
reserve_again(struct rig *rig, int i)
{
    return rt_reserve_poll(&rig->reserves[i], crowd_cx(&rig->crowd, i));
}

static rt_poll
reserve(struct rig *rig, int i)
{
    rt_reserve_init(&rig->reserves[i], &rig->channel);
    return reserve_again(rig, i);
}

static rt_err
try_send(struct rig *rig, int value)
{
    return rt_channel_try_send(&rig->channel, &value);
}

/* The item, or the error. */
static int
try_recv(struct rig *rig)
{
    int value = 0;
    rt_err err = rt_channel_try_recv(&rig->channel, &value);
    return err == RT_OK ? value : (int)err;
}

/* Fills it with 1 and 2. */
static void
fill(struct rig *rig)
{
    EXPECT_EQ(try_send(rig, 1), RT_OK);
    EXPECT_EQ(try_send(rig, 2), RT_OK);
}

/* Holds K1. */
TEST(channel_full_senders_wait_in_order)
{
    struct rig rig;
    rig_init(&rig);
    fill(&rig);
    EXPECT_EQ(try_send(&rig, 3), RT_E_FULL);
    EXPECT_EQ(send(&rig, 0, 3), RT_PENDING);
    EXPECT_EQ(send(&rig, 1, 4), RT_PENDING);
    EXPECT_EQ(try_recv(&rig), 1);
    EXPECT_STR(crowd_woken(&rig.crowd), "a");
    /* The capacity is a's, although a has not been polled: no barging. */
    EXPECT_EQ(try_send(&rig, 9), RT_E_FULL);
    EXPECT_EQ(send_again(&rig, 1), RT_PENDING);
    EXPECT_EQ(send_again(&rig, 0), RT_READY);
    EXPECT_EQ(try_recv(&rig), 2);
    EXPECT_STR(crowd_woken(&rig.crowd), "b");
    EXPECT_EQ(send_again(&rig, 1), RT_READY);
    EXPECT_EQ(try_recv(&rig), 3);
    EXPECT_EQ(try_recv(&rig), 4);
    EXPECT_EQ(try_recv(&rig), RT_E_AGAIN);
}

/* Holds K1. */
TEST(channel_empty_receivers_wait_in_order)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(recv(&rig, 0), RT_PENDING);
    EXPECT_EQ(recv(&rig, 1), RT_PENDING);
    EXPECT_EQ(try_send(&rig, 7), RT_OK);
    EXPECT_STR(crowd_woken(&rig.crowd), "a");
    EXPECT_EQ(try_recv(&rig), RT_E_AGAIN);
    EXPECT_EQ(recv_again(&rig, 1), RT_PENDING);
    EXPECT_EQ(try_send(&rig, 8), RT_OK);
    EXPECT_STR(crowd_woken(&rig.crowd), "b");
    EXPECT_EQ(recv_again(&rig, 0), RT_READY);
    EXPECT_EQ(recv_again(&rig, 1), RT_READY);
    EXPECT_EQ(rig.in[0], 7);
    EXPECT_EQ(rig.in[1], 8);
}

/* Holds K2. */
TEST(channel_last_sender_gone_receivers_drain_then_end)
{
    struct rig rig;
    rig_init(&rig);
    fill(&rig);
    rt_channel_drop_sender(&rig.channel);
    EXPECT(rt_channel_closed(&rig.channel));
    EXPECT_EQ(try_send(&rig, 3), RT_E_CLOSED);
    EXPECT_EQ(recv(&rig, 0), RT_READY);
    EXPECT_EQ(rig.recvs[0].err, RT_OK);
    EXPECT_EQ(try_recv(&rig), 2);
    EXPECT_EQ(recv(&rig, 0), RT_READY);
    EXPECT_EQ(rig.recvs[0].err, RT_E_CLOSED);
    EXPECT_EQ(rig.in[0], -1);
    EXPECT_EQ(try_recv(&rig), RT_E_CLOSED);
    EXPECT_EQ(rig.destroyed, 0);
}

/* Holds K2. */
TEST(channel_last_receiver_gone_fails_senders_and_destroys_items)
{
    struct rig rig;
    rig_init(&rig);
    fill(&rig);
    EXPECT_EQ(send(&rig, 0, 4), RT_PENDING);
    rt_channel_drop_receiver(&rig.channel);
    EXPECT_EQ(rig.destroyed, 1 + 2);
    EXPECT_STR(crowd_woken(&rig.crowd), "a");
    EXPECT_EQ(send_again(&rig, 0), RT_READY);
    EXPECT_EQ(rig.sends[0].err, RT_E_CLOSED);
    EXPECT_EQ(send(&rig, 1, 8), RT_READY);
    EXPECT_EQ(rig.sends[1].err, RT_E_CLOSED);
    EXPECT_EQ(rig.destroyed, 3); /* What was not sent is its sender's. */
}

/* Holds K3. */
TEST(channel_stays_open_while_a_handle_lives)
{
    struct rig rig;
    rig_init(&rig);
    rt_channel_add_handle(&rig.channel);
    rt_channel_drop_sender(&rig.channel);
    rt_channel_drop_receiver(&rig.channel);
    EXPECT(!rt_channel_closed(&rig.channel));
    EXPECT_EQ(try_send(&rig, 5), RT_OK);
    EXPECT_EQ(rig.destroyed, 0);
    rt_channel_add_receiver(&rig.channel);
    rt_channel_drop_handle(&rig.channel);
    EXPECT(rt_channel_closed(&rig.channel));
    EXPECT_EQ(try_recv(&rig), 5);
    EXPECT_FAULT(RT_E_INVALID, rt_channel_drop_handle(&rig.channel));
}

/* Holds K3. */
TEST(channel_close_wakes_all_on_both_sides)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(recv(&rig, 0), RT_PENDING);
    EXPECT_EQ(recv(&rig, 1), RT_PENDING);
    rt_channel_close(&rig.channel);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
    EXPECT_EQ(recv_again(&rig, 0), RT_READY);
    EXPECT_EQ(rig.recvs[0].err, RT_E_CLOSED);

    rig_init(&rig);
    fill(&rig);
    EXPECT_EQ(send(&rig, 0, 3), RT_PENDING);
    EXPECT_EQ(reserve(&rig, 1), RT_PENDING);
    rt_channel_close(&rig.channel);
    rt_channel_close(&rig.channel);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
    EXPECT_EQ(send_again(&rig, 0), RT_READY);
    EXPECT_EQ(reserve_again(&rig, 1), RT_READY);
    EXPECT_EQ(rig.sends[0].err, RT_E_CLOSED);
    EXPECT_EQ(rig.reserves[1].err, RT_E_CLOSED);
}

/* Holds K4. */
TEST(channel_reservation_takes_capacity_and_gives_it_back)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(reserve(&rig, 0), RT_READY);
    EXPECT_EQ(reserve(&rig, 1), RT_READY);
    EXPECT_EQ(try_send(&rig, 3), RT_E_FULL);
    EXPECT_EQ(send(&rig, 2, 3), RT_PENDING);
    rt_permit_drop(&rig.reserves[0].permit);
    rt_permit_drop(&rig.reserves[0].permit);
    EXPECT_STR(crowd_woken(&rig.crowd), "c");
    EXPECT_EQ(send_again(&rig, 2), RT_READY);
    int value = 4;
    EXPECT_EQ(rt_permit_commit(&rig.reserves[1].permit, &value), RT_OK);
    EXPECT_FAULT(RT_E_FINISHED, (void)rt_permit_commit(&rig.reserves[1].permit, &value));
    EXPECT_EQ(try_recv(&rig), 3);
    EXPECT_EQ(try_recv(&rig), 4);
}

/* Holds K4. */
TEST(channel_commit_after_close_discards)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(reserve(&rig, 0), RT_READY);
    rt_channel_drop_receiver(&rig.channel);
    int value = 6;
    EXPECT_EQ(rt_permit_commit(&rig.reserves[0].permit, &value), RT_E_CLOSED);
    EXPECT_EQ(rig.destroyed, 6);
    EXPECT_EQ(rt_channel_length(&rig.channel), 0);
}

/* Holds K5, K6: between the grant and the poll. */
TEST(channel_receive_that_is_cancelled_has_consumed_nothing)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(recv(&rig, 0), RT_PENDING);
    EXPECT_EQ(recv(&rig, 1), RT_PENDING);
    fill(&rig);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
    rt_recv_drop(&rig.recvs[0]);
    EXPECT_EQ(recv_again(&rig, 1), RT_READY);
    EXPECT_EQ(rig.in[1], 1); /* The oldest, whichever it was granted for. */
    EXPECT_EQ(try_recv(&rig), 2);
}

/* Holds K6. */
TEST(channel_item_granted_to_a_dropped_receiver_wakes_the_next)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(recv(&rig, 0), RT_PENDING);
    EXPECT_EQ(recv(&rig, 1), RT_PENDING);
    EXPECT_EQ(try_send(&rig, 1), RT_OK);
    rt_recv_drop(&rig.recvs[0]);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
    EXPECT_EQ(recv_again(&rig, 1), RT_READY);
    EXPECT_EQ(rig.in[1], 1);
}

/* Holds K5, K6. */
TEST(channel_send_that_is_cancelled_has_sent_nothing)
{
    struct rig rig;
    rig_init(&rig);
    fill(&rig);
    EXPECT_EQ(send(&rig, 0, 3), RT_PENDING);
    EXPECT_EQ(send(&rig, 1, 4), RT_PENDING);
    EXPECT_EQ(try_recv(&rig), 1);
    rt_send_drop(&rig.sends[0]);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
    EXPECT_EQ(send_again(&rig, 1), RT_READY);
    EXPECT_EQ(try_recv(&rig), 2);
    EXPECT_EQ(try_recv(&rig), 4);
    EXPECT_EQ(rig.destroyed, 0);
}

/* Holds K6: a reservation that was granted and not polled. */
TEST(channel_reservation_that_is_cancelled_wakes_the_next)
{
    struct rig rig;
    rig_init(&rig);
    fill(&rig);
    EXPECT_EQ(reserve(&rig, 0), RT_PENDING);
    EXPECT_EQ(send(&rig, 1, 4), RT_PENDING);
    EXPECT_EQ(try_recv(&rig), 1);
    rt_reserve_drop(&rig.reserves[0]);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
    EXPECT_EQ(send_again(&rig, 1), RT_READY);
}

/* Holds K5, K6: as a combinator polls and drops it. */
TEST(channel_receive_in_a_future_drops_what_it_was_granted)
{
    struct rig rig;
    rig_init(&rig);
    rt_recv_init(&rig.recvs[0], &rig.channel, &rig.in[0]);
    struct rt_future *future = &rig.recvs[0].future;
    EXPECT_EQ(rt_future_poll(future, crowd_cx(&rig.crowd, 0)), RT_PENDING);
    EXPECT_EQ(recv(&rig, 1), RT_PENDING);
    EXPECT_EQ(try_send(&rig, 1), RT_OK);
    rt_future_drop(future);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
    EXPECT_EQ(recv_again(&rig, 1), RT_READY);
}

/* Holds K7, K3: woken by the close, it finds an item that is granted to another. */
TEST(channel_receiver_woken_spuriously_queues_again_once)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(recv(&rig, 0), RT_PENDING);
    EXPECT_EQ(recv(&rig, 1), RT_PENDING);
    EXPECT_EQ(try_send(&rig, 1), RT_OK);
    rt_channel_drop_sender(&rig.channel);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
    EXPECT_EQ(recv_again(&rig, 1), RT_PENDING);
    EXPECT_EQ(recv_again(&rig, 1), RT_PENDING);
    rt_recv_drop(&rig.recvs[0]);
    EXPECT_STR(crowd_woken(&rig.crowd), "b");
    EXPECT_EQ(recv_again(&rig, 1), RT_READY);
    EXPECT_EQ(rig.in[1], 1);
}

/* Holds K2, K3: closed, and the last item is taken: the receivers that wait get the end. */
TEST(channel_closed_and_emptied_wakes_receivers_for_the_end)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(recv(&rig, 0), RT_PENDING);
    EXPECT_EQ(recv(&rig, 1), RT_PENDING);
    EXPECT_EQ(try_send(&rig, 1), RT_OK);
    rt_channel_close(&rig.channel);
    (void)crowd_woken(&rig.crowd);
    EXPECT_EQ(recv_again(&rig, 1), RT_PENDING);
    EXPECT_EQ(recv_again(&rig, 0), RT_READY);
    EXPECT_STR(crowd_woken(&rig.crowd), "b");
    EXPECT_EQ(recv_again(&rig, 1), RT_READY);
    EXPECT_EQ(rig.recvs[1].err, RT_E_CLOSED);
}

/* Holds K7: an item that was granted is cleared; the receiver waits on at its old position. */
TEST(channel_clear_wakes_senders_and_takes_grants_back)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(recv(&rig, 0), RT_PENDING);
    EXPECT_EQ(recv(&rig, 1), RT_PENDING);
    EXPECT_EQ(recv(&rig, 2), RT_PENDING);
    fill(&rig);
    EXPECT_EQ(send(&rig, 3, 4), RT_PENDING);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
    EXPECT_EQ(rt_channel_clear(&rig.channel), 2);
    EXPECT_EQ(rig.destroyed, 3);
    EXPECT_STR(crowd_woken(&rig.crowd), "d");
    EXPECT_EQ(recv_again(&rig, 1), RT_PENDING);
    EXPECT_EQ(recv_again(&rig, 0), RT_PENDING);
    EXPECT_EQ(send_again(&rig, 3), RT_READY);
    EXPECT_STR(crowd_woken(&rig.crowd), "a");
    EXPECT_EQ(try_send(&rig, 5), RT_OK);
    EXPECT_STR(crowd_woken(&rig.crowd), "b");
    EXPECT_EQ(recv_again(&rig, 0), RT_READY);
    EXPECT_EQ(rig.in[0], 4);
}

/* Holds K13. */
TEST(channel_storage_is_reused_when_no_handle_is_left)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(rt_channel_reopen(&rig.channel), RT_E_IN_USE);
    fill(&rig);
    EXPECT_EQ(try_recv(&rig), 1);
    EXPECT_EQ(reserve(&rig, 0), RT_READY);
    rt_channel_add_handle(&rig.channel);
    rt_channel_drop_receiver(&rig.channel);
    rt_channel_drop_sender(&rig.channel);
    EXPECT_EQ(rt_channel_reopen(&rig.channel), RT_E_IN_USE); /* The handle, the permit. */
    rt_channel_close(&rig.channel);
    EXPECT_EQ(rig.destroyed, 0); /* There is a handle: it might have made a receiver. */
    rt_channel_drop_handle(&rig.channel);
    EXPECT_EQ(rig.destroyed, 2);
    EXPECT_EQ(rt_channel_reopen(&rig.channel), RT_E_IN_USE); /* The permit. */
    EXPECT_FAULT(RT_E_IN_USE, rt_channel_fini(&rig.channel));
    rt_permit_drop(&rig.reserves[0].permit);
    EXPECT_EQ(rt_channel_reopen(&rig.channel), RT_OK);
    EXPECT(!rt_channel_closed(&rig.channel));
    fill(&rig);
    EXPECT_EQ(try_recv(&rig), 1);
    rt_channel_drop_handle(&rig.channel);
    rt_channel_fini(&rig.channel);
}

/* Holds K13: a future whose turn came when no task awaited it (its task parks, it continues under
 * another waker) has a position of the previous life. */
TEST(channel_is_not_reopened_while_a_future_that_was_passed_over_is_left)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(recv(&rig, 0), RT_PENDING);
    crowd_end(&rig.crowd, 0);
    rt_channel_drop_sender(&rig.channel); /* Closes it: all are woken, but this one is not there. */
    rt_channel_drop_receiver(&rig.channel);
    EXPECT_EQ(rt_channel_reopen(&rig.channel), RT_E_IN_USE);
    rt_recv_drop(&rig.recvs[0]);
    EXPECT_EQ(rt_channel_reopen(&rig.channel), RT_OK);
}

/* Holds K13: nothing of the life before is left, and what was left is destroyed. */
TEST(channel_reopened_is_empty_and_what_was_left_is_destroyed)
{
    struct rig rig;
    rig_init(&rig);
    fill(&rig);
    rt_channel_drop_sender(&rig.channel);
    rt_channel_drop_receiver(&rig.channel);
    EXPECT_EQ(rt_channel_reopen(&rig.channel), RT_OK);
    EXPECT_EQ(rig.destroyed, 3);
    EXPECT_EQ(try_recv(&rig), RT_E_AGAIN);
    fill(&rig);
    EXPECT_EQ(try_recv(&rig), 1);
}

/* ---- The model. ------------------------------------------------------------------------------ */

struct model {
    int ring[CAPACITY];
    int count;
    int senders[CROWD]; /* Waiting senders, in the order of queueing; granted ones first. */
    int sending;
    int granted;
    int receivers[CROWD];
    int receiving;
    int items_granted;
};

static int
find(const int *line, int count, int who)
{
    int at = 0;
    while (at < count && line[at] != who) {
        at++;
    }
    return at;
}

static void
cut(int *line, int *count, int at)
{
    for (int k = at; k + 1 < *count; k++) {
        line[k] = line[k + 1];
    }
    (*count)--;
}

/* The granted waiters are the first ones of the queue: grants go in its order, and a taker leaves
 * it. */
static void
model_serve(struct model *model)
{
    int space = CAPACITY - model->count;
    model->granted = model->sending < space ? model->sending : space;
    model->items_granted = model->receiving < model->count ? model->receiving : model->count;
}

static void
model_send(struct model *model, struct rig *rig, int who, int value)
{
    int at = find(model->senders, model->sending, who);
    bool is_new = at == model->sending;
    bool ready = is_new ? model->count + model->granted < CAPACITY : at < model->granted;
    EXPECT_EQ(is_new ? send(rig, who, value) : send_again(rig, who), ready ? RT_READY : RT_PENDING);
    if (ready) {
        model->ring[model->count++] = rig->out[who];
        if (!is_new) {
            cut(model->senders, &model->sending, at);
        }
    } else if (is_new) {
        model->senders[model->sending++] = who;
    }
}

static void
model_recv(struct model *model, struct rig *rig, int who)
{
    int at = find(model->receivers, model->receiving, who);
    bool is_new = at == model->receiving;
    bool ready = is_new ? model->count > model->items_granted : at < model->items_granted;
    EXPECT_EQ(is_new ? recv(rig, who) : recv_again(rig, who), ready ? RT_READY : RT_PENDING);
    if (ready) {
        EXPECT_EQ(rig->in[who], model->ring[0]);
        cut(model->ring, &model->count, 0);
        if (!is_new) {
            cut(model->receivers, &model->receiving, at);
        }
    } else if (is_new) {
        model->receivers[model->receiving++] = who;
    }
}

static void
model_leave(struct model *model, struct rig *rig, int who)
{
    int at = find(model->senders, model->sending, who);
    if (at < model->sending) {
        rt_send_drop(&rig->sends[who]);
        cut(model->senders, &model->sending, at);
    }
    at = find(model->receivers, model->receiving, who);
    if (at < model->receiving) {
        rt_recv_drop(&rig->recvs[who]);
        cut(model->receivers, &model->receiving, at);
    }
}

/*
 * Holds K1, K5, K6.
 * Goal: no history of sends, receives and drops, at any point, loses or doubles an item, an order
 * or a grant. Method: 50,000 random steps against two arrays of waiters and one of items.
 */
TEST(channel_long_random_history_agrees_with_an_array)
{
    struct rig rig;
    rig_init(&rig);
    struct model model = {0};
    uint64_t random = 4;
    for (int step = 0; step < 50000; step++) {
        int who = (int)bed_below(&random, CROWD);
        switch (bed_below(&random, 5)) {
        case 0:
        case 1:
            model_send(&model, &rig, who, step);
            break;
        case 2:
        case 3:
            model_recv(&model, &rig, who);
            break;
        default:
            model_leave(&model, &rig, who);
        }
        model_serve(&model);
        EXPECT_EQ(rt_channel_length(&rig.channel), model.count);
        EXPECT_EQ(rig.channel.room.assigned, model.granted);
        EXPECT_EQ(rig.channel.items.assigned, model.items_granted);
    }
    EXPECT_EQ(rig.destroyed, 0);
}
