// SPDX-License-Identifier: Apache-2.0
/* Cause: shared_lock::read_done() line 48: the last reader wakes the head of the queue only if that is a
 * writer, as readers are thought to queue behind writers only; but next() let in one of two readers, and the
 * other is the head now. Repair: next() lets in all readers at the head (line 97). */
#include <new>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

namespace
{

struct place {
    rt_slot slot;
    place *next = nullptr;
    bool writer = false;
    bool queued = false;
    bool admitted = false;
};

class shared_lock
{
  public:
    explicit shared_lock(bool all) : all_readers(all)
    {
    }

    rt_poll read(place &mine, rt_cx *cx)
    {
        if (!mine.queued && head == nullptr && !writing) {
            readers++;
            return RT_READY;
        }
        return wait(mine, false, cx);
    }

    rt_poll write(place &mine, rt_cx *cx)
    {
        if (!mine.queued && head == nullptr && !writing && readers == 0) {
            writing = true;
            return RT_READY;
        }
        return wait(mine, true, cx);
    }

    void read_done()
    {
        readers--;
        if (readers == 0 && head != nullptr && head->writer) {
            next();
        }
    }

    void write_done()
    {
        writing = false;
        next();
    }

  private:
    rt_poll wait(place &mine, bool writer, rt_cx *cx)
    {
        if (mine.admitted) {
            return RT_READY;
        }
        if (!mine.queued) {
            mine.queued = true;
            mine.writer = writer;
            place **end = &head;
            while (*end != nullptr) {
                end = &(*end)->next;
            }
            *end = &mine;
        }
        rt_slot_replace(&mine.slot, cx, writer ? "the lock, to write" : "the lock, to read");
        return RT_PENDING;
    }

    void admit()
    {
        place *first = head;
        head = first->next;
        first->admitted = true;
        if (first->writer) {
            writing = true;
        } else {
            readers++;
        }
        rt_slot_wake(&first->slot);
    }

    void next()
    {
        if (head == nullptr) {
            return;
        }
        admit();
        while (all_readers && !writing && head != nullptr && !head->writer) {
            admit();
        }
    }

    place *head = nullptr;
    unsigned readers = 0;
    bool writing = false;
    bool all_readers;
};

struct table {
    shared_lock lock;
    sim_world *world;
    int rows = 0;

    table(sim_world *in, bool all) : lock(all), world(in)
    {
    }
};

rt::coroutine
lookup(rt::frames &, table &in, std::uint64_t arrival_ns, std::uint64_t work_ns)
{
    place mine;
    rt_slot_init(&mine.slot);
    co_await rt::sleep(arrival_ns, RT_HERE);
    co_await rt::until([&](rt_cx *cx) { return in.lock.read(mine, cx); });
    int before = in.rows;
    co_await rt::sleep(work_ns, RT_HERE);
    SIM_ALWAYS(in.rows == before);
    in.lock.read_done();
}

rt::coroutine
insert(rt::frames &, table &in, std::uint64_t arrival_ns, std::uint64_t work_ns)
{
    place mine;
    rt_slot_init(&mine.slot);
    co_await rt::sleep(arrival_ns, RT_HERE);
    co_await rt::until([&](rt_cx *cx) { return in.lock.write(mine, cx); });
    in.rows++;
    co_await rt::sleep(work_ns, RT_HERE);
    in.lock.write_done();
}

template <typename T, typename... Arguments>
T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

void
begin(sim_world *world, bool all_readers)
{
    constexpr unsigned size = 8192;
    sim_rt *rt = sim_rt_new(world, nullptr);
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    rt::frames &frames = *make<rt::frames>(world, memory);
    table &rows = *make<table>(world, world, all_readers);
    static const char *const names[] = {"lookup a", "insert", "lookup b", "lookup c"};
    for (unsigned i = 0; i < 4; i++) {
        std::uint64_t arrival_ns = sim_range(world, i * RT_MS, 4 * RT_MS);
        std::uint64_t work_ns = sim_range(world, 500 * RT_US, 3 * RT_MS);
        rt::coroutine body = i == 1 ? insert(frames, rows, arrival_ns, work_ns)
                                    : lookup(frames, rows, arrival_ns, work_ns);
        sim_spawn(rt, make<rt::task>(world, std::move(body), names[i])->raw());
    }
}

void
setup_broken(sim_world *world)
{
    begin(world, false);
}

void
setup_fixed(sim_world *world)
{
    begin(world, true);
}

} /* namespace */

SIM_SCENARIO(shared_broken, .name = "s10/shared/broken",
        .about = "A lock for readers and writers, of coroutines.", .setup = setup_broken);
SIM_SCENARIO(shared_fixed, .name = "s10/shared/fixed",
        .about = "A lock for readers and writers, of coroutines.", .setup = setup_fixed);
