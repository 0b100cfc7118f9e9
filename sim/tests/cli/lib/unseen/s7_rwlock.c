// Cause: writer_gives_up(): a writer whose time is up takes itself off `writers_waiting` and wakes nobody. A
// reader that came while the writer waited had queued behind it, although other readers hold the lock; the end
// of the other reader wakes writers only (unlock_read), so the queued reader sleeps forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

struct lock {
    uint32_t readers;
    uint32_t writers_waiting;
    bool writing;
    struct rt_slot writer;
    struct rt_wait_queue queued;
    struct rt_wait_queue_entry entries[4];
    bool lets_readers_in;
};

struct reader {
    struct rt_task task;
    struct lock *lock;
    uint32_t at;
    struct rt_sleep nap;
    uint64_t arrives_ns;
    uint64_t holds_ns;
};

struct writer {
    struct rt_task task;
    struct lock *lock;
    uint32_t at;
    struct rt_sleep nap;
    uint64_t arrives_ns;
    uint64_t patience_ns;
    bool got;
};

static rt_poll
lock_read(struct lock *lock, struct rt_cx *cx)
{
    if (lock->writing || lock->writers_waiting > 0) {
        SIM_ALWAYS(rt_wait_queue_store(&lock->queued, cx, "the lock, to read") == RT_OK);
        return RT_PENDING;
    }
    (void)rt_wait_queue_leave(&lock->queued, cx);
    lock->readers++;
    return RT_READY;
}

static void
unlock_read(struct lock *lock)
{
    if (--lock->readers == 0) {
        (void)rt_slot_wake(&lock->writer);
    }
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    RT_BEGIN(reader->at);
    rt_sleep_init(&reader->nap, reader->arrives_ns);
    RT_AWAIT_HERE(reader->at, rt_sleep_poll(&reader->nap, cx));
    RT_AWAIT_HERE(reader->at, lock_read(reader->lock, cx));
    rt_sleep_init(&reader->nap, reader->holds_ns);
    RT_AWAIT_HERE(reader->at, rt_sleep_poll(&reader->nap, cx));
    unlock_read(reader->lock);
    RT_END(reader->at);
}

/* READY: `got` says whether the lock is the writer's, or its time is up. */
static rt_poll
lock_write_for_a_while(struct writer *writer, struct rt_cx *cx)
{
    struct lock *lock = writer->lock;
    if (lock->readers == 0 && !lock->writing) {
        rt_sleep_cancel(&writer->nap);
        (void)rt_slot_clear(&lock->writer);
        lock->writing = true;
        writer->got = true;
        return RT_READY;
    }
    if (rt_sleep_poll(&writer->nap, cx) == RT_READY) {
        (void)rt_slot_clear(&lock->writer);
        return RT_READY;
    }
    rt_slot_replace(&lock->writer, cx, "the lock, to write");
    return RT_PENDING;
}

static void
writer_gives_up(struct lock *lock)
{
    lock->writers_waiting--;
    if (lock->lets_readers_in && lock->writers_waiting == 0) {
        (void)rt_wait_queue_wake(&lock->queued, UINT32_MAX);
    }
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct writer *writer = rt_container_of(task, struct writer, task);
    struct lock *lock = writer->lock;
    RT_BEGIN(writer->at);
    rt_sleep_init(&writer->nap, writer->arrives_ns);
    RT_AWAIT_HERE(writer->at, rt_sleep_poll(&writer->nap, cx));
    lock->writers_waiting++;
    rt_sleep_init(&writer->nap, writer->patience_ns);
    RT_AWAIT_HERE(writer->at, lock_write_for_a_while(writer, cx));
    if (!writer->got) {
        writer_gives_up(lock);
        return RT_READY;
    }
    lock->writers_waiting--;
    rt_sleep_init(&writer->nap, 100 * RT_US);
    RT_AWAIT_HERE(writer->at, rt_sleep_poll(&writer->nap, cx));
    lock->writing = false;
    (void)rt_wait_queue_wake(&lock->queued, UINT32_MAX);
    RT_END(writer->at);
}

static void
begin(struct sim_world *world, bool lets_readers_in)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct lock *lock = sim_new(world, struct lock);
    struct reader *first = sim_new(world, struct reader);
    struct reader *second = sim_new(world, struct reader);
    struct writer *writer = sim_new(world, struct writer);
    rt_slot_init(&lock->writer);
    rt_wait_queue_init(&lock->queued, lock->entries, 4);
    lock->lets_readers_in = lets_readers_in;
    *first = (struct reader){.lock = lock, .holds_ns = sim_range(world, RT_MS, 5 * RT_MS)};
    *second = (struct reader){.lock = lock, .holds_ns = 100 * RT_US};
    second->arrives_ns = sim_range(world, 500 * RT_US, 4 * RT_MS);
    *writer = (struct writer){.lock = lock, .arrives_ns = 300 * RT_US};
    writer->patience_ns = 3 * RT_MS - sim_range(world, 0, 2 * RT_MS);
    rt_task_init(&first->task, reader_poll, NULL, "first reader");
    rt_task_init(&second->task, reader_poll, NULL, "second reader");
    rt_task_init(&writer->task, writer_poll, NULL, "writer");
    sim_spawn(rt, &first->task);
    sim_spawn(rt, &second->task);
    sim_spawn(rt, &writer->task);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(rwlock_broken, .name = "set7/s7_rwlock/broken",
        .about = "A lock for readers and writers; a writer gives up.", .setup = setup_broken);
SIM_SCENARIO(rwlock_fixed, .name = "set7/s7_rwlock/fixed",
        .about = "A lock for readers and writers; a writer gives up.", .setup = setup_fixed);
