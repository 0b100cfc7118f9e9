/*
 * libuv-5133.c -- the end of a batch is reported twice, once by each layer.
 *
 * libuv/libuv#5133 (commit 2e13123).
 *
 * The bug. A UDP handle gives each batch of datagrams a buffer of the user, which the user frees
 * when the callback is called with no bytes and the buffer. The inner function, around recvmmsg,
 * makes that call when the kernel has no datagram; the outer one, its caller, makes it whenever the
 * inner one returns none. The user frees the buffer twice.
 *
 * The fix. The inner function returns the number of datagrams and makes no such call: nothing_there
 * below.
 *
 * Here. A receiver closes its handle after three datagrams. The loop reads until the kernel has no
 * more or the handle is closed, so if all three arrive in one turn, no read comes back empty.
 *
 * Cause: not-a-wake in buffer_free or nothing_there
 * Must end in: crash, of the allocator that finds the buffer freed. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/rewake.h"

#define DATAGRAMS 3u
#define CHUNKS 4
#define BATCH_MAX 4

/* Allocates and frees as malloc and free do. */
struct buffer {
    bool allocated;
    char bytes[CHUNKS];
};

struct udp {
    struct sim_world *world;
    bool broken;
    struct sim_fds *fds;
    int fd;
    int peer;
    bool open;
    struct buffer buffer;
    uint32_t received;
};

/* ---- The user. ------------------------------------------------------------------------------- */

static struct buffer *
on_alloc(struct udp *udp)
{
    udp->buffer.allocated = true;
    return &udp->buffer;
}

static void
buffer_free(struct buffer *buffer)
{
    if (!buffer->allocated) {
        abort(); /* "free(): double free detected" */
    }
    buffer->allocated = false;
}

/* A datagram; without one, the user owns the buffer again. */
static void
on_receive(struct udp *udp, const char *datagram, struct buffer *buffer)
{
    if (datagram == NULL) {
        buffer_free(buffer);
        return;
    }
    udp->received++;
    if (udp->received == DATAGRAMS) {
        udp->open = false;
    }
}

/* ---- The handle, as in libuv. ---------------------------------------------------------------- */

static void
nothing_there(struct udp *udp, struct buffer *buffer)
{
    if (udp->broken) {
        on_receive(udp, NULL, buffer);
    }
}

/* The inner function: returns the number of datagrams. */
static uint32_t
receive_many(struct udp *udp, struct buffer *buffer)
{
    uint32_t count = 0;
    while (count < CHUNKS && sim_fd_read(udp->fds, udp->fd, &buffer->bytes[count], 1) == 1) {
        count++;
    }
    if (count == 0) {
        nothing_there(udp, buffer);
        return 0;
    }
    for (uint32_t i = 0; i < count && udp->open; i++) {
        on_receive(udp, &buffer->bytes[i], buffer);
    }
    on_receive(udp, NULL, buffer); /* The flag UV_UDP_MMSG_FREE. */
    return count;
}

/* The outer one: the handle is readable. */
static void
receive_all(struct udp *udp)
{
    uint32_t count = 0;
    do {
        struct buffer *buffer = on_alloc(udp);
        count = receive_many(udp, buffer);
        if (count == 0) {
            on_receive(udp, NULL, buffer);
        }
    } while (count > 0 && udp->open);
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct udp *udp = argument;
    sim_sleep(world, 10 * RT_MS); /* It has other handles as well. */
    while (udp->open) {
        struct sim_fd_event batch[BATCH_MAX];
        if (sim_fd_wait(udp->fds, batch, BATCH_MAX, SIM_NEVER) > 0) {
            receive_all(udp);
        }
    }
    SIM_ALWAYS(sim_fd_close(udp->fds, udp->fd) == RT_OK);
}

static void
sender_main(struct sim_world *world, void *argument)
{
    struct udp *udp = argument;
    for (uint32_t i = 0; i < DATAGRAMS; i++) {
        sim_sleep(world, sim_range(world, RT_MS, 4 * RT_MS));
        SIM_ALWAYS(sim_fd_write(udp->fds, udp->peer, "*", 1) == 1);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct udp *udp = sim_new(world, struct udp);
    int ends[2] = {-1, -1};
    udp->world = world;
    udp->broken = broken;
    udp->open = true;
    udp->fds = sim_fds_new(sim_host_new(world, "kernel", SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_pair(udp->fds, "socket", RT_MS, RT_MS, ends) == RT_OK);
    udp->fd = ends[0];
    udp->peer = ends[1];
    SIM_ALWAYS(sim_fd_add(udp->fds, udp->fd, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "sender", sender_main, udp);
    (void)sim_loop_new(world, "loop", loop_main, udp);
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

SIM_SCENARIO(zoo_libuv_5133_broken, .name = "zoo/libuv-5133/broken", .bug = "D16",
        .reference = "libuv/libuv#5133",
        .about = "Two layers report an empty read, and the buffer is freed twice.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_libuv_5133_fixed, .name = "zoo/libuv-5133/fixed",
        .about = "One layer reports an empty read.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
