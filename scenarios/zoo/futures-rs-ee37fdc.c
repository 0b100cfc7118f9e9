/*
 * futures-rs-ee37fdc.c -- a oneshot wakes the waker of a sender that is gone.
 *
 * rust-lang/futures-rs commit ee37fdc, oneshot.
 *
 * The bug. A sender can wait for the receiver to lose interest; its waker is then in the channel. A
 * sender that was dropped told the receiver, and left its own waker where it was. The receiver,
 * when it was dropped later, woke it.
 *
 * The fix. The sender takes its waker out when it is dropped: sender_drop below.
 *
 * Here. A client asks with a oneshot for the answer; the server's request has the sending half, and
 * its waker points into the request, as wakers made by hand do. The client loses interest before
 * the server answers: the waker is for that. After: the request is freed, and its waker called.
 * What is freed is overwritten here, as by an allocator that marks what is free.
 *
 * Cause: not-a-wake in receiver_drop or sender_drop
 * Must end in: crash. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/rewake.h"

#define FREED 0x5a

/* A waker made by hand: borrowed, and good for as long as who made it. */
struct waker {
    void (*wake)(void *data);
    void *data;
};

struct oneshot {
    struct waker *sender; /* Waits for the receiver's end; NULL: nobody. */
    bool sender_gone;
    bool receiver_gone;
    bool broken;
};

struct request {
    struct waker waker;
    bool cancelled;
};

struct state {
    struct oneshot oneshot;
    struct request *request;
    uint64_t interest_ns;
};

static void
sender_drop(struct oneshot *oneshot)
{
    oneshot->sender_gone = true;
    if (!oneshot->broken) {
        oneshot->sender = NULL;
    }
}

static void
receiver_drop(struct oneshot *oneshot)
{
    struct waker *sender = oneshot->sender;
    oneshot->receiver_gone = true;
    oneshot->sender = NULL;
    if (sender != NULL) {
        sender->wake(sender->data);
    }
}

static void
request_cancelled(void *data)
{
    struct request *request = data;
    request->cancelled = true;
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    struct request *request = state->request;
    request->waker = (struct waker){request_cancelled, request};
    state->oneshot.sender = &request->waker;
    for (uint32_t i = 0; i < 10 && !request->cancelled; i++) {
        sim_sleep(world, RT_MS); /* A part of the work. */
    }
    sender_drop(&state->oneshot);
    memset(request, FREED, sizeof(*request));
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    sim_sleep(world, state->interest_ns);
    receiver_drop(&state->oneshot);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    state->oneshot.broken = broken;
    state->request = sim_new(world, struct request);
    state->interest_ns = sim_range(world, 2 * RT_MS, 20 * RT_MS);
    (void)sim_loop_new(world, "server", server_main, state);
    (void)sim_loop_new(world, "client", client_main, state);
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

SIM_SCENARIO(zoo_futures_rs_ee37fdc_broken, .name = "zoo/futures-rs-ee37fdc/broken", .bug = "G06",
        .reference = "rust-lang/futures-rs ee37fdc",
        .about = "A dropped sender leaves its waker in the channel.", .setup = setup_broken,
        .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_futures_rs_ee37fdc_fixed, .name = "zoo/futures-rs-ee37fdc/fixed",
        .about = "A dropped sender takes its waker out of the channel.", .setup = setup_fixed);
