/*
 * futures-rs-ee37fdc.c -- a oneshot wakes the waker of a sender that was dropped.
 *
 * rust-lang/futures-rs commit ee37fdc, oneshot.
 *
 * The bug. A sender can wait until the receiver is dropped; its waker is then in the channel. A
 * dropped sender notifies the receiver but leaves its own waker in the channel. When the receiver
 * is dropped later, it wakes that waker.
 *
 * The fix. The sender removes its waker when it is dropped: sender_drop below.
 *
 * Here. A client asks with a oneshot for the answer; the server's request owns the sender, whose
 * hand-made waker points into the request. If the client drops the receiver before the server
 * answers, the waker is valid. If it does so after, the request is freed, and its waker is called.
 * Freed memory is overwritten here, as by a poisoning allocator.
 *
 * Cause: not-a-wake in receiver_drop or sender_drop
 * Must end in: crash. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/rewake.h"

#define FREED 0x5a

/* A waker made by hand: borrowed, valid as long as its maker. */
struct waker {
    void (*wake)(void *data);
    void *data;
};

struct oneshot {
    struct waker *sender; /* Waits until the receiver is dropped; NULL: none. */
    bool sender_dropped;
    bool receiver_dropped;
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
    oneshot->sender_dropped = true;
    if (!oneshot->broken) {
        oneshot->sender = NULL;
    }
}

static void
receiver_drop(struct oneshot *oneshot)
{
    struct waker *sender = oneshot->sender;
    oneshot->receiver_dropped = true;
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
