/*
 * s11_batcher.c -- group commit: writers add records to a batch, and wait until it is on disk; the
 * flusher writes a batch when it is old enough, or at once when it is full.
 *
 * Cause: flusher_write() (line 102) is told of a full batch and leaves `armed` set, so the first record of the next batch starts no timer
 */
#include <sim/rewake.h>

#define WRITERS 3
#define RECORDS 3
#define FULL 2

struct journal {
    uint32_t pending;  /* Records of the batch that is open. */
    uint32_t batch;    /* Its number. */
    uint32_t written;  /* Batches on disk. */
    bool armed;        /* The flusher has a timer for the open batch, or will be told. */
    bool resets;
    uint32_t writers;
    struct rt_slot flusher;
    struct rt_slot waiting[WRITERS];
};

struct writer {
    struct rt_task task;
    struct journal *journal;
    uint32_t number, at, record, batch;
    uint64_t pause_ns;
    struct rt_sleep pause;
};

struct flusher {
    struct rt_task task;
    struct journal *journal;
    uint32_t at;
    struct rt_sleep age, disk;
};

static void
journal_append(struct journal *journal)
{
    journal->pending++;
    if (!journal->armed || journal->pending == FULL) {
        journal->armed = true;
        rt_slot_wake(&journal->flusher);
    }
}

static rt_poll
journal_synced(struct writer *writer, struct rt_cx *cx)
{
    struct journal *journal = writer->journal;
    if (journal->written > writer->batch) {
        return RT_READY;
    }
    rt_slot_replace(&journal->waiting[writer->number], cx, "its record on disk");
    return RT_PENDING;
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct writer *writer = rt_container_of(task, struct writer, task);
    RT_BEGIN(writer->at);
    for (writer->record = 0; writer->record < RECORDS; writer->record++) {
        rt_sleep_init(&writer->pause, writer->pause_ns * (writer->record + 1));
        RT_AWAIT_HERE(writer->at, rt_sleep_poll(&writer->pause, cx));
        writer->batch = writer->journal->batch;
        journal_append(writer->journal);
        RT_AWAIT_HERE(writer->at, journal_synced(writer, cx));
    }
    writer->journal->writers--;
    rt_slot_wake(&writer->journal->flusher);
    RT_END(writer->at);
}

/* READY when there is a batch to be written, or nobody writes any more. */
static rt_poll
flusher_due(struct flusher *flusher, struct rt_cx *cx)
{
    struct journal *journal = flusher->journal;
    if (journal->writers == 0 || journal->pending >= FULL) {
        rt_sleep_cancel(&flusher->age);
        return RT_READY;
    }
    if (journal->armed && journal->pending > 0) {
        if (rt_sleep_poll(&flusher->age, cx) == RT_READY) {
            journal->armed = false;
            return RT_READY;
        }
    }
    rt_slot_replace(&journal->flusher, cx, "a record");
    return RT_PENDING;
}

static void
flusher_write(struct journal *journal)
{
    if (journal->resets) {
        journal->armed = false;
    }
    journal->pending = 0;
    journal->batch++;
}

static void
flusher_written(struct journal *journal)
{
    journal->written = journal->batch;
    for (uint32_t i = 0; i < WRITERS; i++) {
        rt_slot_wake(&journal->waiting[i]);
    }
}

static rt_poll
flusher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct flusher *flusher = rt_container_of(task, struct flusher, task);
    struct journal *journal = flusher->journal;
    RT_BEGIN(flusher->at);
    while (journal->writers > 0) {
        rt_sleep_init(&flusher->age, 2 * RT_MS);
        RT_AWAIT_HERE(flusher->at, flusher_due(flusher, cx));
        if (journal->pending > 0) {
            flusher_write(journal);
            rt_sleep_init(&flusher->disk, 300 * RT_US);
            RT_AWAIT_HERE(flusher->at, rt_sleep_poll(&flusher->disk, cx));
            flusher_written(journal);
        }
    }
    RT_END(flusher->at);
}

static void
setup_with(struct sim_world *world, bool resets)
{
    static const char *const names[WRITERS] = {"orders", "stock", "audit"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct journal *journal = sim_new(world, struct journal);
    struct flusher *flusher = sim_new(world, struct flusher);
    journal->resets = resets;
    journal->writers = WRITERS;
    rt_slot_init(&journal->flusher);
    flusher->journal = journal;
    rt_task_init(&flusher->task, flusher_poll, NULL, "flusher");
    sim_spawn(rt, &flusher->task);
    for (uint32_t i = 0; i < WRITERS; i++) {
        struct writer *writer = sim_new(world, struct writer);
        rt_slot_init(&journal->waiting[i]);
        writer->journal = journal;
        writer->number = i;
        writer->pause_ns = sim_range(world, 1 * RT_MS, 5 * RT_MS);
        rt_task_init(&writer->task, writer_poll, NULL, names[i]);
        sim_spawn(rt, &writer->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    setup_with(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_with(world, true);
}

SIM_SCENARIO(batcher_broken, .name = "s11_batcher/broken",
        .about = "A journal that is written in batches.", .setup = setup_broken);
SIM_SCENARIO(batcher_fixed, .name = "s11_batcher/fixed",
        .about = "A journal that is written in batches.", .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
