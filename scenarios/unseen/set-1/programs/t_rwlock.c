/*
 * t_rwlock.c -- A writer-preferring read-write lock over a table: readers queue while a writer
 * waits. A writer gives up when it does not get the lock in time.
 *
 * Cause: A writer that gives up withdraws its waiting mark but does not wake the readers that
 * queued because of it, so they wait on a lock that only readers hold or no one.
 * Where: writer_poll
 * Kind: missing wake on the cancel path
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define READERS 3

static bool fixed;

struct table {
    uint32_t reading;
    bool writing;
    bool writer_waits;
    struct rt_slot writer;
    struct rt_wait_queue readers;
    struct rt_wait_queue_entry entries[READERS];
};

struct reader {
    struct rt_task task;
    struct table *table;
    struct rt_sleep sleep;
    uint64_t starts;
    uint64_t reads;
    uint32_t at;
};

struct writer {
    struct rt_task task;
    struct table *table;
    struct rt_sleep sleep;
    uint64_t starts;
    bool started;
};

static rt_poll
table_read(struct table *table, struct rt_cx *cx)
{
    if (table->writing || table->writer_waits) {
        SIM_ALWAYS(rt_wait_queue_store(&table->readers, cx, "the read lock") == RT_OK);
        return RT_PENDING;
    }
    (void)rt_wait_queue_leave(&table->readers, cx);
    table->reading++;
    return RT_READY;
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    RT_BEGIN(reader->at);
    rt_sleep_init(&reader->sleep, reader->starts);
    RT_AWAIT_HERE(reader->at, rt_sleep_poll(&reader->sleep, cx));
    RT_AWAIT_HERE(reader->at, table_read(reader->table, cx));
    rt_sleep_init(&reader->sleep, reader->reads);
    RT_AWAIT_HERE(reader->at, rt_sleep_poll(&reader->sleep, cx));
    if (--reader->table->reading == 0) {
        rt_slot_wake(&reader->table->writer);
    }
    RT_END(reader->at);
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct writer *writer = rt_container_of(task, struct writer, task);
    struct table *table = writer->table;
    if (!writer->started) {
        rt_sleep_init(&writer->sleep, 2 * RT_MS);
        writer->started = true;
    }
    if (table->reading == 0) {
        /* Writes at once. */
        rt_sleep_cancel(&writer->sleep);
        table->writer_waits = false;
        rt_wait_queue_wake(&table->readers, UINT32_MAX);
        return RT_READY;
    }
    table->writer_waits = true;
    if (rt_sleep_poll(&writer->sleep, cx) == RT_READY) {
        table->writer_waits = false; /* Where. */
        if (fixed) {
            rt_wait_queue_wake(&table->readers, UINT32_MAX);
        }
        return RT_READY; /* Busy. */
    }
    rt_slot_replace(&table->writer, cx, "the write lock");
    return RT_PENDING;
}

static void
setup(struct sim_world *world)
{
    static const char *const names[READERS] = {"reader-0", "reader-1", "reader-2"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct table *table = sim_new(world, struct table);
    struct writer *writer = sim_new(world, struct writer);
    rt_slot_init(&table->writer);
    rt_wait_queue_init(&table->readers, table->entries, READERS);
    for (uint32_t i = 0; i < READERS; i++) {
        struct reader *reader = sim_new(world, struct reader);
        reader->table = table;
        reader->starts = i * RT_MS;
        reader->reads = RT_MS / 2 + sim_range(world, 0, 8) * RT_MS / 2;
        rt_task_init(&reader->task, reader_poll, NULL, names[i]);
        sim_spawn(rt, &reader->task);
    }
    writer->table = table;
    rt_task_init(&writer->task, writer_poll, NULL, "writer");
    sim_spawn(rt, &writer->task);
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

SIM_SCENARIO(form_broken, .name = "unseen/t-rwlock/broken",
        .about = "A writer-preferring lock whose writer gives up.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/t-rwlock/fixed",
        .about = "A writer-preferring lock whose writer gives up.", .setup = setup_fixed);
