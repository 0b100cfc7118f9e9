/*
 * w_heap.c -- An event loop with a binary heap of request deadlines; answers arrive and cancel
 * their deadline.
 *
 * Cause: Removing from the middle of the heap puts the last entry there and sifts it down only,
 * never up, so the heap order breaks and the earliest deadline is no longer at the root.
 * Where: heap_remove
 * Kind: late wake
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define REQUESTS 12

static bool fixed;

struct loop {
    struct sim_world *world;
    struct sim_fds *os;
    int answers;
    int peer;
    uint32_t count;
    uint32_t heap[REQUESTS];
    uint64_t due[REQUESTS];
    bool ended[REQUESTS];
    uint32_t left;
};

static void
swap(struct loop *loop, uint32_t a, uint32_t b)
{
    uint32_t kept = loop->heap[a];
    loop->heap[a] = loop->heap[b];
    loop->heap[b] = kept;
}

static bool
before(const struct loop *loop, uint32_t a, uint32_t b)
{
    return loop->due[loop->heap[a]] < loop->due[loop->heap[b]];
}

static void
sift_up(struct loop *loop, uint32_t at)
{
    for (; at > 0 && before(loop, at, (at - 1) / 2); at = (at - 1) / 2) {
        swap(loop, at, (at - 1) / 2);
    }
}

static void
sift_down(struct loop *loop, uint32_t at)
{
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < loop->count; child++) {
            least = before(loop, child, least) ? child : least;
        }
        if (least == at) {
            return;
        }
        swap(loop, at, least);
        at = least;
    }
}

static void
heap_remove(struct loop *loop, uint32_t at)
{
    loop->heap[at] = loop->heap[--loop->count];
    if (at < loop->count) {
        if (fixed) {
            sift_up(loop, at);
        }
        sift_down(loop, at); /* Where. */
    }
}

static void
request_end(struct loop *loop, uint32_t request)
{
    for (uint32_t at = 0; at < loop->count; at++) {
        if (loop->heap[at] == request) {
            heap_remove(loop, at);
            loop->ended[request] = true;
            loop->left--;
            SIM_PROGRESS();
            return;
        }
    }
}

static void
again(void *argument, void *task)
{
    struct loop *loop = argument;
    uint32_t request = (uint32_t)((bool *)task - loop->ended);
    if (loop->due[request] <= sim_now(loop->world)) {
        sim_foreign_poll(task);
        request_end(loop, request);
        sim_foreign_polled(task, loop->ended[request]);
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    struct sim_fd_event event;
    while (loop->left > 0) {
        uint64_t now = sim_now(world);
        if (loop->count > 0 && loop->due[loop->heap[0]] <= now) {
            uint32_t request = loop->heap[0];
            sim_foreign_poll(&loop->ended[request]);
            request_end(loop, request);
            sim_foreign_polled(&loop->ended[request], true);
            continue;
        }
        uint64_t sleep = loop->count > 0 ? loop->due[loop->heap[0]] - now : SIM_NEVER;
        if (sim_fd_wait(loop->os, &event, 1, sleep) == 1) {
            unsigned char request;
            if (sim_fd_read(loop->os, loop->answers, &request, 1) == 1 && request < REQUESTS &&
                    !loop->ended[request]) {
                sim_foreign_poll(&loop->ended[request]);
                request_end(loop, request);
                sim_foreign_polled(&loop->ended[request], true);
            }
        }
    }
}

static void
peer_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    for (int i = 0; i < 40; i++) {
        /* 255: an unasked message. */
        unsigned char request = i < 5 ? (unsigned char)sim_pick(world, REQUESTS) : 255;
        sim_sleep(world, RT_MS);
        SIM_ALWAYS(sim_fd_write(loop->os, loop->peer, &request, 1) == 1);
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[REQUESTS] = {
            "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11"};
    struct loop *loop = sim_new(world, struct loop);
    int pair[2];
    loop->world = world;
    loop->left = REQUESTS;
    loop->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_pair(loop->os, "answers", 0, 1000, pair) == RT_OK);
    loop->answers = pair[0];
    loop->peer = pair[1];
    SIM_ALWAYS(sim_fd_add(loop->os, pair[0], SIM_FD_IN, 0) == RT_OK);
    struct sim_loop *actor = sim_loop_new(world, "loop", loop_main, loop);
    struct sim_foreign *foreign = sim_foreign_new(actor, again, loop);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        loop->due[i] = sim_range(world, 3, 40) * RT_MS;
        loop->heap[loop->count++] = i;
        sift_up(loop, loop->count - 1);
        sim_foreign_watch(foreign, &loop->ended[i], names[i], "its answer or its deadline");
    }
    sim_loop_new(world, "peer", peer_main, loop);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/w-heap/broken",
        .about = "A heap of deadlines with removals.", .setup = setup_broken,
        .expect = SIM_VERDICT_LATE_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/w-heap/fixed",
        .about = "A heap of deadlines with removals.", .setup = setup_fixed);
