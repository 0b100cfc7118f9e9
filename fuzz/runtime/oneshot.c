/*
 * oneshot.c -- one value, two sides that may be dropped, and waits that replace each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/oneshot.h"

#include "fuzz/runtime/clients.h"

FUZZ_UNSEEN_BEGIN

static struct {
    struct clients clients;
    struct rt_oneshot oneshot;
    struct rt_oneshot_wait waits[CLIENTS];
    bool live[CLIENTS]; /* Has a wait that is neither READY nor dropped. */
    /* The model. */
    bool sent;
    bool taken;
    bool sender_gone;
    bool receiver_gone;
    uint32_t waiting; /* The client that was PENDING last, or NONE. */
    uint32_t waker;   /* The waker that a send wakes, or NONE. */
} run;

static char value;

static void
wake(void)
{
    if (run.waker != NONE) {
        clients_write(&run.clients.expected, run.waker);
        run.waker = NONE;
    }
}

static void
leave(uint32_t id)
{
    run.live[id] = false;
    if (run.waiting == id) {
        run.waiting = NONE;
        run.waker = NONE;
    }
}

static void
poll(uint32_t waker)
{
    uint32_t id = waker / WAKERS;
    struct rt_oneshot_wait *wait = &run.waits[id];
    if (!run.live[id]) {
        rt_oneshot_wait_init(wait, &run.oneshot);
        run.live[id] = true;
    }
    rt_poll answer = rt_oneshot_poll(wait, clients_cx(&run.clients, waker));
    if (!run.taken && !run.sent && !run.sender_gone) {
        fuzz_check(answer == RT_PENDING);
        run.waiting = id;
        run.waker = waker;
        return;
    }
    fuzz_check(answer == RT_READY);
    leave(id);
    if (run.taken) {
        fuzz_check(wait->err == RT_E_TAKEN);
    } else if (run.sent) {
        fuzz_check(wait->err == RT_OK && wait->value == &value);
        run.taken = true;
    } else {
        fuzz_check(wait->err == RT_E_CANCELLED);
    }
}

static void
drop(uint32_t id)
{
    if (run.live[id]) {
        leave(id);
        rt_oneshot_wait_drop(&run.waits[id]);
    }
}

static void
send(void)
{
    if (run.sender_gone) {
        return;
    }
    run.sender_gone = true;
    run.sent = !run.receiver_gone;
    if (run.sent) {
        wake();
    }
    rt_err err = rt_oneshot_send(&run.oneshot, &value);
    fuzz_check(err == (run.sent ? RT_OK : RT_E_CLOSED));
}

static void
drop_sender(void)
{
    if (!run.sender_gone) {
        run.sender_gone = true;
        wake();
    }
    rt_oneshot_drop_sender(&run.oneshot);
}

/* What remains for its owner when no client waits. */
static void
take_rest(void *(*ending)(struct rt_oneshot *oneshot))
{
    if (run.waiting == NONE) {
        void *left = run.sent && !run.taken ? &value : 0;
        run.taken = true;
        fuzz_check(ending(&run.oneshot) == left);
    }
}

static void
end_waker(uint32_t waker)
{
    if (clients_end(&run.clients, waker) && run.waker == waker) {
        run.waker = NONE;
    }
}

static void
act(uint32_t what, uint32_t waker)
{
    switch (what) {
    case 4:
        drop(waker / WAKERS);
        break;
    case 5:
        end_waker(waker);
        break;
    case 6:
        send();
        break;
    case 7:
        drop_sender();
        break;
    case 8:
        if (run.waiting == NONE) {
            run.receiver_gone = true;
            take_rest(rt_oneshot_drop_receiver);
        }
        break;
    default:
        poll(waker);
        break;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_tape tape = fuzz_tape(data, size);
    clients_init(&run.clients);
    rt_oneshot_init(&run.oneshot);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        run.live[i] = false;
    }
    run.sent = run.taken = run.sender_gone = run.receiver_gone = false;
    run.waiting = run.waker = NONE;
    while (fuzz_more(&tape)) {
        uint32_t what = fuzz_below(&tape, 9);
        act(what, fuzz_below(&tape, CLIENTS * WAKERS));
        clients_compare(&run.clients);
        fuzz_check(run.oneshot.taken == run.taken && run.oneshot.sent == run.sent);
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        drop(i);
    }
    take_rest(rt_oneshot_fini);
    clients_fini(&run.clients);
    return 0;
}

FUZZ_UNSEEN_END
