/*
 * oneshot.c -- one value, two sides that go away, and waits that take each other's place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/oneshot.h"

#include "fuzz/runtime/crowd.h"

FUZZ_UNSEEN_BEGIN

static struct {
    struct crowd crowd;
    struct rt_oneshot oneshot;
    struct rt_oneshot_wait waits[PEOPLE];
    bool live[PEOPLE]; /* Has a wait that is neither READY nor dropped. */
    /* The model. */
    bool sent;
    bool taken;
    bool sender_gone;
    bool receiver_gone;
    uint32_t waiting; /* Who was PENDING last, or NOBODY. */
    uint32_t waker;   /* Whom a send wakes, or NOBODY. */
} run;

static char value;

static void
wake(void)
{
    if (run.waker != NOBODY) {
        crowd_write(&run.crowd.owed, run.waker);
        run.waker = NOBODY;
    }
}

static void
leave(uint32_t who)
{
    run.live[who] = false;
    if (run.waiting == who) {
        run.waiting = NOBODY;
        run.waker = NOBODY;
    }
}

static void
poll(uint32_t waker)
{
    uint32_t who = waker / WAKERS;
    struct rt_oneshot_wait *wait = &run.waits[who];
    if (!run.live[who]) {
        rt_oneshot_wait_init(wait, &run.oneshot);
        run.live[who] = true;
    }
    rt_poll answer = rt_oneshot_poll(wait, crowd_cx(&run.crowd, waker));
    if (!run.taken && !run.sent && !run.sender_gone) {
        fuzz_check(answer == RT_PENDING);
        run.waiting = who;
        run.waker = waker;
        return;
    }
    fuzz_check(answer == RT_READY);
    leave(who);
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
drop(uint32_t who)
{
    if (run.live[who]) {
        leave(who);
        rt_oneshot_wait_drop(&run.waits[who]);
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

/* What is left for its owner, when nobody waits for it. */
static void
take_rest(void *(*ending)(struct rt_oneshot *oneshot))
{
    if (run.waiting == NOBODY) {
        void *left = run.sent && !run.taken ? &value : 0;
        run.taken = true;
        fuzz_check(ending(&run.oneshot) == left);
    }
}

static void
end_waker(uint32_t waker)
{
    if (crowd_end(&run.crowd, waker) && run.waker == waker) {
        run.waker = NOBODY;
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
        if (run.waiting == NOBODY) {
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
    crowd_init(&run.crowd);
    rt_oneshot_init(&run.oneshot);
    for (uint32_t i = 0; i < PEOPLE; i++) {
        run.live[i] = false;
    }
    run.sent = run.taken = run.sender_gone = run.receiver_gone = false;
    run.waiting = run.waker = NOBODY;
    while (fuzz_more(&tape)) {
        uint32_t what = fuzz_below(&tape, 9);
        act(what, fuzz_below(&tape, PEOPLE * WAKERS));
        crowd_compare(&run.crowd);
        fuzz_check(run.oneshot.taken == run.taken && run.oneshot.sent == run.sent);
    }
    for (uint32_t i = 0; i < PEOPLE; i++) {
        drop(i);
    }
    take_rest(rt_oneshot_fini);
    crowd_fini(&run.crowd);
    return 0;
}

FUZZ_UNSEEN_END
