/*
 * channel.c -- a channel against an array of items and two lines of clients.
 *
 * Six clients send, reserve and receive, drop their futures at any time, and poll at any time:
 * woken or not, with the same waker, another, a foreign one. Wakers end while they wait. Each
 * answer, each item, each wake and their order, and the owner of each grant between grant and poll
 * is compared with the model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "fuzz/runtime/line.h"
#include "runtime/sync/channel.h"

FUZZ_UNSEEN_BEGIN

#define CAPACITY 4u

enum kind { NOTHING, SEND, RESERVE, RECEIVE, PERMIT /* It holds one. */ };

struct client {
    enum kind kind; /* What it waits for, or owns. */
    uint64_t item;
    union {
        struct rt_send send;
        struct rt_reserve reserve;
        struct rt_recv recv;
    } as;
};

struct run {
    struct clients clients;
    struct rt_channel channel;
    uint64_t ring[CAPACITY];
    struct client members[CLIENTS];
    uint64_t destroyed; /* Items that were never received, in order. */
    /* The model. */
    struct line space;
    struct line items;
    uint64_t queue[CAPACITY];
    uint32_t count;
    uint32_t capacity;
    uint64_t item_mask; /* The bytes of an item that are copied. */
    uint32_t permits;
    uint32_t handles;
    uint32_t senders;
    uint32_t receivers;
    bool closed;
    uint64_t lost; /* As `destroyed`. */
    uint64_t next_item;
};

static struct run run;

static uint64_t
record(uint64_t log, uint64_t item)
{
    return log * 31 + item + 1;
}

static void
destroy(const void *item, void *argument)
{
    (void)argument;
    uint64_t value = 0;
    memcpy(&value, item, run.channel.config.item_size);
    run.destroyed = record(run.destroyed, value);
}

/* ---- The model's operations. ----------------------------------------------------------------- */

static void
model_give_space(void)
{
    line_give(&run.space, 1);
    if (run.closed && run.count == 0) {
        (void)line_wake_all(&run.items);
    }
}

static void
model_push(uint64_t item)
{
    fuzz_check(run.count < run.capacity);
    run.queue[run.count++] = item & run.item_mask;
    line_give(&run.items, 1);
}

static uint64_t
model_pop(void)
{
    fuzz_check(run.count > 0);
    uint64_t item = run.queue[0];
    run.count -= 1;
    memmove(run.queue, run.queue + 1, sizeof run.queue[0] * (CAPACITY - 1));
    model_give_space();
    return item;
}

static void
model_close(void)
{
    if (!run.closed) {
        run.closed = true;
        (void)line_wake_all(&run.space);
        (void)line_wake_all(&run.items);
    }
}

static void
model_clear(void)
{
    uint32_t count = run.count;
    run.count = 0;
    line_revoke(&run.items);
    for (uint32_t i = 0; i < count; i++) {
        run.lost = record(run.lost, run.queue[i]);
        model_give_space();
    }
}

static void
model_settle_counts(void)
{
    if (run.handles == 0 && (run.senders == 0 || run.receivers == 0)) {
        model_close();
    }
    if (run.handles == 0 && run.receivers == 0) {
        model_clear();
    }
}

static bool
model_referenced(void)
{
    return run.handles + run.senders + run.receivers + run.permits + run.space.count +
                   run.items.count !=
           0;
}

/* ---- The clients' operations. ---------------------------------------------------------------- */

static void
begin(struct client *client, enum kind kind)
{
    client->kind = kind;
    client->item = run.next_item++;
    switch (kind) {
    case SEND:
        rt_send_init(&client->as.send, &run.channel, &client->item);
        break;
    case RESERVE:
        rt_reserve_init(&client->as.reserve, &run.channel);
        break;
    case RECEIVE:
    case PERMIT:
    case NOTHING:
        rt_recv_init(&client->as.recv, &run.channel, &client->item);
        break;
    }
}

/* READY when capacity is the caller's, or there will be none. */
static bool
model_poll_space(uint32_t id, uint32_t waker)
{
    if (run.closed) {
        line_leave(&run.space, id);
        return true;
    }
    return line_poll(&run.space, id, 1, waker);
}

static void
poll_send(struct client *client, uint32_t id, uint32_t waker)
{
    bool closed = run.closed;
    bool ready = model_poll_space(id, waker);
    if (ready && !closed) {
        model_push(client->item);
    }
    struct rt_send *send = &client->as.send;
    rt_poll answer = rt_send_poll(send, clients_cx(&run.clients, waker));
    fuzz_check(answer == (ready ? RT_READY : RT_PENDING));
    if (ready) {
        fuzz_check(send->err == (closed ? RT_E_CLOSED : RT_OK));
        client->kind = NOTHING;
    }
}

static void
poll_reserve(struct client *client, uint32_t id, uint32_t waker)
{
    bool closed = run.closed;
    bool ready = model_poll_space(id, waker);
    struct rt_reserve *reserve = &client->as.reserve;
    rt_poll answer = rt_reserve_poll(reserve, clients_cx(&run.clients, waker));
    fuzz_check(answer == (ready ? RT_READY : RT_PENDING));
    if (!ready) {
        return;
    }
    fuzz_check(reserve->err == (closed ? RT_E_CLOSED : RT_OK));
    fuzz_check((reserve->permit.channel == 0) == closed);
    run.permits += !closed;
    client->kind = closed ? NOTHING : PERMIT;
}

static void
poll_receive(struct client *client, uint32_t id, uint32_t waker)
{
    bool ended = run.closed && run.count == 0;
    uint64_t item = client->item & run.item_mask;
    if (ended) {
        line_leave(&run.items, id);
    }
    bool ready = ended || line_poll(&run.items, id, 1, waker);
    if (ready && !ended) {
        item = model_pop();
    }
    struct rt_recv *recv = &client->as.recv;
    rt_poll answer = rt_recv_poll(recv, clients_cx(&run.clients, waker));
    fuzz_check(answer == (ready ? RT_READY : RT_PENDING));
    fuzz_check((client->item & run.item_mask) == item);
    if (ready) {
        fuzz_check(recv->err == (ended ? RT_E_CLOSED : RT_OK));
        client->kind = NOTHING;
    }
}

static void
commit(struct client *client)
{
    run.permits -= 1;
    if (run.closed) {
        run.lost = record(run.lost, client->item & run.item_mask);
        model_give_space();
    } else {
        model_push(client->item);
    }
    rt_err err = rt_permit_commit(&client->as.reserve.permit, &client->item);
    fuzz_check(err == (run.closed ? RT_E_CLOSED : RT_OK));
    client->kind = NOTHING;
}

/* Continues its operation, or begins `kind`. */
static void
go_on(uint32_t waker, enum kind kind)
{
    uint32_t id = waker / WAKERS;
    struct client *client = &run.members[id];
    if (client->kind == NOTHING) {
        begin(client, kind);
    }
    switch (client->kind) {
    case SEND:
        poll_send(client, id, waker);
        break;
    case RESERVE:
        poll_reserve(client, id, waker);
        break;
    case RECEIVE:
        poll_receive(client, id, waker);
        break;
    case PERMIT:
    case NOTHING:
        commit(client);
        break;
    }
}

static void
give_up(uint32_t id)
{
    struct client *client = &run.members[id];
    switch (client->kind) {
    case SEND:
        line_leave(&run.space, id);
        rt_send_drop(&client->as.send);
        break;
    case RESERVE:
        line_leave(&run.space, id);
        rt_reserve_drop(&client->as.reserve);
        break;
    case RECEIVE:
        line_leave(&run.items, id);
        rt_recv_drop(&client->as.recv);
        break;
    case PERMIT:
        run.permits -= 1;
        model_give_space();
        rt_permit_drop(&client->as.reserve.permit);
        break;
    case NOTHING:
        break;
    }
    client->kind = NOTHING;
}

static void
try_send(void)
{
    uint64_t item = run.next_item++;
    rt_err expected = RT_E_CLOSED;
    if (!run.closed) {
        expected = line_take(&run.space, 1) ? RT_OK : RT_E_FULL;
    }
    if (expected == RT_OK) {
        model_push(item);
    }
    rt_err err = rt_channel_try_send(&run.channel, &item);
    fuzz_check(err == expected);
}

static void
try_receive(void)
{
    uint64_t expected = 99;
    uint64_t item = expected;
    rt_err err = RT_E_CLOSED;
    if (!run.closed || run.count > 0) {
        err = line_take(&run.items, 1) ? RT_OK : RT_E_AGAIN;
    }
    if (err == RT_OK) {
        expected = model_pop();
    }
    fuzz_check(rt_channel_try_recv(&run.channel, &item) == err);
    fuzz_check((item & run.item_mask) == (expected & run.item_mask));
}

/* ---- The handles of the channel, and its end. ------------------------------------------------ */

static void
reopen(void)
{
    bool free = !model_referenced();
    fuzz_check(rt_channel_reopen(&run.channel) == (free ? RT_OK : RT_E_IN_USE));
    if (free) {
        line_init(&run.space, &run.clients, run.capacity);
        line_init(&run.items, &run.clients, 0);
        run.closed = false;
        run.handles = 1;
    }
}

/* Drops one handle of a kind, if there is one. */
static void
drop_holder(uint32_t *count, void (*drop)(struct rt_channel *channel, const struct rt_site *await))
{
    if (*count > 0) {
        *count -= 1;
        model_settle_counts();
        drop(&run.channel, RT_HERE);
    }
}

static void
hold(uint32_t what)
{
    switch (what) {
    case 0:
        run.senders += 1;
        rt_channel_add_sender(&run.channel);
        break;
    case 1:
        run.receivers += 1;
        rt_channel_add_receiver(&run.channel);
        break;
    case 2:
        run.handles += 1;
        rt_channel_add_handle(&run.channel);
        break;
    case 3:
        drop_holder(&run.senders, rt_channel_drop_sender_at);
        break;
    case 4:
        drop_holder(&run.receivers, rt_channel_drop_receiver_at);
        break;
    case 5:
        drop_holder(&run.handles, rt_channel_drop_handle_at);
        break;
    case 6:
        model_close();
        rt_channel_close(&run.channel);
        break;
    case 7:
        reopen();
        break;
    default: {
        uint32_t count = run.count;
        model_clear();
        fuzz_check(rt_channel_clear(&run.channel) == count);
    }
    }
}

static void
end_waker(uint32_t waker)
{
    if (clients_end(&run.clients, waker)) {
        line_waker_ended(&run.space, waker);
        line_waker_ended(&run.items, waker);
    }
}

/* ---- A run. ---------------------------------------------------------------------------------- */

static void
compare(void)
{
    clients_compare(&run.clients);
    line_compare(&run.space, &run.channel.room);
    line_compare(&run.items, &run.channel.items);
    fuzz_check(rt_channel_length(&run.channel) == run.count);
    fuzz_check(rt_channel_closed(&run.channel) == run.closed);
    fuzz_check(run.channel.permits == run.permits);
    fuzz_check(run.destroyed == run.lost);
}

static void
set_up(struct fuzz_tape *tape)
{
    static const uint32_t sizes[] = {8, 4, 0};
    clients_init(&run.clients);
    uint32_t size = sizes[fuzz_below(tape, 3)];
    run.item_mask = size == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * size) - 1;
    run.capacity = 1 + fuzz_below(tape, CAPACITY);
    struct rt_channel_config config = {
            .ring = run.ring, .item_size = size, .capacity = run.capacity, .destroy = destroy};
    rt_channel_init(&run.channel, &config);
    line_init(&run.space, &run.clients, run.capacity);
    line_init(&run.items, &run.clients, 0);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        run.members[i].kind = NOTHING;
    }
    run.count = 0;
    run.permits = 0;
    run.handles = 1;
    run.senders = 0;
    run.receivers = 0;
    run.closed = false;
    run.destroyed = 0;
    run.lost = 0;
    run.next_item = 1;
}

static void
tear_down(void)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        give_up(i);
    }
    while (run.senders + run.receivers + run.handles > 0) {
        hold(3);
        hold(4);
        hold(5);
    }
    compare();
    fuzz_check(run.closed && run.count == 0);
    fuzz_check(run.channel.room.free == run.capacity);
    rt_channel_fini(&run.channel);
    clients_fini(&run.clients);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_tape tape = fuzz_tape(data, size);
    set_up(&tape);
    while (fuzz_more(&tape)) {
        uint32_t what = fuzz_below(&tape, 16);
        uint32_t waker = fuzz_below(&tape, CLIENTS * WAKERS);
        switch (what) {
        case 0:
            try_send();
            break;
        case 1:
            try_receive();
            break;
        case 2:
        case 3:
            give_up(waker / WAKERS);
            break;
        case 4:
            end_waker(waker);
            break;
        case 5:
            hold(waker % 9);
            break;
        case 6:
            go_on(waker, RESERVE);
            break;
        default:
            go_on(waker, what % 2 == 0 ? SEND : RECEIVE);
            break;
        }
        compare();
    }
    tear_down();
    return 0;
}

FUZZ_UNSEEN_END
