/*
 * A value that is published again and again; readers want the latest, and not each one.
 * Cause: reader_poll() (line 73) marks the version as seen that is current when the work is over, and not the one that it has worked on.
 */
#include <sim/rewake.h>

#define READERS 2u
#define FINAL 4u

struct board {
    uint32_t version;
    uint32_t value;
    struct rt_slot readers[READERS];
};

struct reader {
    struct rt_task task;
    struct board *board;
    struct rt_slot *slot;
    struct rt_sleep work;
    uint64_t work_ns;
    uint32_t at;
    uint32_t version; /* Of the value in hand. */
    uint32_t value;
    uint32_t seen;
    bool fixed;
};

struct writer {
    struct rt_task task;
    struct board *board;
    struct rt_sleep pause;
    struct sim_world *world;
    uint32_t at;
};

static void
board_publish(struct board *board, uint32_t value)
{
    board->value = value;
    board->version++;
    for (uint32_t i = 0; i < READERS; i++) {
        rt_slot_wake(&board->readers[i]);
    }
}

static rt_poll
board_changed(struct reader *reader, struct rt_cx *cx)
{
    struct board *board = reader->board;
    if (board->version != reader->seen) {
        return RT_READY;
    }
    rt_slot_replace(reader->slot, cx, "a new version");
    return RT_PENDING;
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    RT_BEGIN(reader->at);
    while (reader->value != FINAL) {
        RT_AWAIT_HERE(reader->at, board_changed(reader, cx));
        reader->version = reader->board->version;
        reader->value = reader->board->value;
        rt_sleep_init(&reader->work, reader->work_ns);
        RT_AWAIT_HERE(reader->at, rt_sleep_poll(&reader->work, cx));
        SIM_PROGRESS();
        if (reader->fixed) {
            reader->seen = reader->version;
        } else {
            reader->seen = reader->board->version;
        }
    }
    RT_END(reader->at);
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct writer *writer = rt_container_of(task, struct writer, task);
    RT_BEGIN(writer->at);
    while (writer->board->value < FINAL) {
        rt_sleep_init(&writer->pause, sim_range(writer->world, 2 * RT_MS, 3 * RT_MS));
        RT_AWAIT_HERE(writer->at, rt_sleep_poll(&writer->pause, cx));
        board_publish(writer->board, writer->board->value + 1);
    }
    RT_END(writer->at);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[READERS] = {"screen", "logger"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct board *board = sim_new(world, struct board);
    for (uint32_t i = 0; i < READERS; i++) {
        struct reader *reader = sim_new(world, struct reader);
        rt_slot_init(&board->readers[i]);
        reader->board = board;
        reader->slot = &board->readers[i];
        reader->work_ns = sim_range(world, 1 * RT_MS, 2 * RT_MS);
        reader->fixed = fixed;
        rt_task_init(&reader->task, reader_poll, NULL, names[i]);
        sim_spawn(rt, &reader->task);
    }
    struct writer *writer = sim_new(world, struct writer);
    writer->board = board;
    writer->world = world;
    rt_task_init(&writer->task, writer_poll, NULL, "writer");
    sim_spawn(rt, &writer->task);
}

static void
setup_broken(struct sim_world *world)
{
    setup(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup(world, true);
}

SIM_SCENARIO(broken, .name = "s12-watch/broken", .about = "Two readers of the latest value.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "s12-watch/fixed", .about = "Two readers of the latest value.",
        .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
