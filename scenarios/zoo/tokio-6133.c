/*
 * tokio-6133.c -- a tick of few bits wraps around, and newer readiness is cleared.
 *
 * tokio-rs/tokio#6133, fixed by #6134.
 *
 * The bug. The driver counts its turns in a tick and stores it with the readiness of each source. A
 * task that reads nothing clears the readiness that it saw, with the tick of that time; if the
 * stored tick differs by then, the readiness is newer, and stays. But the tick has eight bits, and
 * counts turns for all sources. If the driver turns 256 times between check and clear, and the last
 * of these turns reports the source, the ticks are equal: the new readiness is cleared, the edge is
 * lost, and the task sleeps.
 *
 * The fix. Each source counts its own events, in fifteen bits: tick_of below.
 *
 * Here. The tick has two bits instead of eight. A reader reads messages from a socket; if there are
 * none, it writes a line into its log, which takes some time, and then clears what it saw. Another
 * connection is active meanwhile. Four turns during a line of the log, the last one with the
 * reader's message, are enough.
 *
 * Cause: order, driver_turn before source_clear_ready or fired-early in driver_turn
 * Must end in: lost-wakeup of the reader. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH_MAX 1 /* One event a turn, as when they come one by one. */
#define MESSAGES 4
#define CHATS 24

#define GLOBAL_TICK_MASK 3u
#define OWN_TICK_MASK 0x7fffu

/* ---- The driver: sources, readiness and ticks. ----------------------------------------------- */

struct source {
    int fd;
    bool ready;
    uint32_t tick;   /* Of the turn that set it. */
    uint32_t events; /* Of this source. */
    struct rt_slot reader;
};

struct driver {
    bool broken;
    struct sim_fds *fds;
    uint32_t turns;
    struct source sources[2];
};

/* The readiness that a check has seen. */
struct seen {
    uint32_t tick;
};

static uint32_t
tick_of(const struct driver *driver, struct source *source)
{
    if (driver->broken) {
        return driver->turns & GLOBAL_TICK_MASK;
    }
    return ++source->events & OWN_TICK_MASK;
}

static void
driver_turn(struct driver *driver)
{
    struct sim_fd_event batch[BATCH_MAX];
    uint32_t count = sim_fd_wait(driver->fds, batch, BATCH_MAX, SIM_NEVER);
    driver->turns++;
    for (uint32_t i = 0; i < count; i++) {
        struct source *source = &driver->sources[batch[i].data];
        source->ready = true;
        source->tick = tick_of(driver, source);
        rt_slot_wake(&source->reader);
    }
}

static rt_poll
source_poll_ready(struct source *source, struct rt_cx *cx, struct seen *ret_seen)
{
    if (!source->ready) {
        rt_slot_replace(&source->reader, cx, "something to read");
        return RT_PENDING;
    }
    ret_seen->tick = source->tick;
    return RT_READY;
}

/* The read after that check found nothing. */
static void
source_clear_ready(struct source *source, struct seen seen)
{
    if (source->tick == seen.tick) {
        source->ready = false;
    }
}

static void
driver_main(struct sim_world *world, void *argument)
{
    (void)world;
    for (;;) {
        driver_turn(argument);
    }
}

/* ---- Two readers. ---------------------------------------------------------------------------- */

enum stage { WAITING, READING, LOGGING };

struct reader {
    struct rt_task task;
    struct sim_world *world;
    struct driver *driver;
    struct source *source;
    enum stage stage;
    struct seen seen;
    struct rt_sleep log;
    uint64_t log_ns; /* At most; 0: no log. */
    uint32_t left;   /* Messages that it still expects. */
};

static void
read_all(struct reader *reader)
{
    char byte = 0;
    while (reader->left > 0 &&
            sim_fd_read(reader->driver->fds, reader->source->fd, &byte, 1) == 1) {
        reader->left--;
    }
    rt_sleep_init(&reader->log, sim_range(reader->world, 0, reader->log_ns));
    reader->stage = LOGGING;
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    for (;;) {
        if (reader->stage == WAITING) {
            RT_AWAIT(source_poll_ready(reader->source, cx, &reader->seen));
            reader->stage = READING;
        }
        if (reader->stage == READING) {
            read_all(reader);
        }
        if (reader->left == 0) {
            return RT_READY;
        }
        if (reader->log_ns > 0) {
            RT_AWAIT(rt_sleep_poll(&reader->log, cx));
        }
        source_clear_ready(reader->source, reader->seen);
        reader->stage = WAITING;
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

struct state {
    struct driver driver;
    struct reader readers[2];
    int peers[2];
};

/* Writes `count` bytes to `peer`, some time apart. */
static void
talk(struct sim_world *world, struct state *state, uint32_t id, uint32_t count, uint64_t max_ns)
{
    for (uint32_t i = 0; i < count; i++) {
        SIM_ALWAYS(sim_fd_write(state->driver.fds, state->peers[id], "*", 1) == 1);
        sim_sleep(world, sim_range(world, 100 * RT_US, max_ns));
    }
}

static void
caller_main(struct sim_world *world, void *argument)
{
    talk(world, argument, 0, MESSAGES, 3 * RT_MS);
}

static void
chatter_main(struct sim_world *world, void *argument)
{
    talk(world, argument, 1, CHATS, RT_MS);
}

static void
reader_init(struct sim_world *world, struct state *state, uint32_t id, uint32_t left)
{
    struct reader *reader = &state->readers[id];
    struct source *source = &state->driver.sources[id];
    int ends[2] = {-1, -1};
    SIM_ALWAYS(
            sim_fd_pair(state->driver.fds, id == 0 ? "socket" : "chat", 0, RT_MS, ends) == RT_OK);
    source->fd = ends[0];
    state->peers[id] = ends[1];
    rt_slot_init(&source->reader);
    SIM_ALWAYS(sim_fd_add(state->driver.fds, ends[0], SIM_FD_IN | SIM_FD_EDGE, id) == RT_OK);
    reader->world = world;
    reader->driver = &state->driver;
    reader->source = source;
    reader->left = left;
    reader->log_ns = id == 0 ? 3 * RT_MS : 0;
    rt_task_init(&reader->task, reader_poll, NULL, id == 0 ? "reader" : "chat");
}

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    state->driver.broken = broken;
    state->driver.fds = sim_fds_new(sim_rt_host(rt), 3);
    reader_init(world, state, 0, MESSAGES);
    reader_init(world, state, 1, CHATS);
    sim_spawn(rt, &state->readers[0].task);
    sim_spawn(rt, &state->readers[1].task);
    (void)sim_loop_new_background(world, "driver", driver_main, &state->driver);
    (void)sim_loop_new_background(world, "caller", caller_main, state);
    (void)sim_loop_new_background(world, "chatter", chatter_main, state);
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

SIM_SCENARIO(zoo_tokio_6133_broken, .name = "zoo/tokio-6133/broken", .bug = "D01",
        .reference = "tokio-rs/tokio#6133",
        .about = "The driver's turns are counted in few bits, and newer readiness is cleared.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(zoo_tokio_6133_fixed, .name = "zoo/tokio-6133/fixed",
        .about = "Each source counts its own events, in more bits.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
