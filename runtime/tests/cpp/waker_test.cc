/*
 * waker_test.cc -- wakers that are held in C++, and wakers that are made there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/cpp/waker.hpp"

#include <utility>

#include "runtime/tests/spy.h"
#include "runtime/tests/test.h"
#include "runtime/tests/time/clockwork.h"

namespace
{

static_assert(sizeof(rt::waker) == 2 * sizeof(void *), "a waker is two words in C++ as well");

/* Something of C++: counts, and does one thing more. */
class bell final : public rt::wakeable
{
  public:
    unsigned signalled = 0;
    const rt_site *by = nullptr;
    rt::waker then; /* Woken with it. */

  private:
    void woken(const rt_site *await) override
    {
        signalled++;
        by = await;
        std::move(then).wake(await);
    }
};

/* A task of C that keeps a waker of itself in C++ hands. */
struct keeper {
    rt_task task;
    rt::waker kept;
    unsigned polls_left;
};

rt_poll
keeper_poll(rt_task *task, rt_cx *cx)
{
    keeper *self = reinterpret_cast<keeper *>(task);
    self->kept = rt::waker::of(cx, RT_HERE);
    return --self->polls_left == 0 ? RT_READY : RT_PENDING;
}

void
keeper_start(keeper *self, clockwork *on, unsigned polls)
{
    self->polls_left = polls;
    rt_task_init(&self->task, keeper_poll, nullptr, "keeper");
    EXPECT_EQ(rt_post(&on->runtime.executor, &self->task), RT_OK);
}

/* What a combinator does with a child: polls it with another waker, which the child stores. */
struct listener {
    rt_task task;
    rt_slot slot;
    const rt::waker *as;
};

rt_poll
listener_poll(rt_task *task, rt_cx *cx)
{
    listener *self = reinterpret_cast<listener *>(task);
    rt_cx child = rt_cx_for_child(cx, self->as->get());
    rt_slot_replace(&self->slot, &child, "the bell");
    rt_cx_poison(&child);
    return RT_PENDING;
}

clockwork works;

} /* namespace */

/*
 * Goal: a waker in C++ gives back each reference once, whatever is done with it.
 * Method: clone, move, assign over, wake and let go wakers of a spy; its counts must balance.
 * Holds W1.
 */
TEST(cpp_waker_gives_each_reference_back_once)
{
    spy spied = {};
    {
        rt::waker first = rt::waker(spy_waker(&spied)).clone(RT_HERE);
        rt::waker second = first.clone(RT_HERE);
        rt::waker third = std::move(second);
        EXPECT(!second && third && third.will_wake(first));
        std::move(third).wake(RT_HERE);
        EXPECT(!third);
        std::move(third).wake(RT_HERE);
        first.wake_by_ref(RT_HERE);
        third = first.clone(RT_HERE);
        first = std::move(third);
        rt_waker in_c = first.clone(RT_HERE).release();
        rt_waker_wake(&in_c);
        rt_waker lost = first.release();
        EXPECT(!first);
        rt::waker found(lost);
        EXPECT(found.get().data == lost.data);
    }
    EXPECT_EQ(spied.clones, 4);
    EXPECT_EQ(spied.wakes, 2);
    EXPECT_EQ(spied.by_ref, 1);
    /* One more than was cloned: the first reference was the spy's own, which is not counted. */
    EXPECT_EQ(spied.drops, 3);
}

/*
 * Goal: a task of C is woken from C++, and a waker that outlives it wakes no task.
 * Method: a task leaves clones of its waker in a C++ object; wake them, before and after its end.
 * Holds W3, T8.
 */
TEST(cpp_waker_wakes_a_task_and_outlives_it)
{
    keeper keeps = {};
    clockwork_init(&works, 0);
    keeper_start(&keeps, &works, 3);
    EXPECT_EQ(clockwork_run(&works), 1);
    std::move(keeps.kept).wake(RT_HERE);
    EXPECT_EQ(clockwork_run(&works), 1);
    keeps.kept.wake_by_ref(RT_HERE);
    EXPECT_EQ(clockwork_run(&works), 1);
    EXPECT(!rt_task_posted(&keeps.task));
    rt_task_fini(&keeps.task);
    std::move(keeps.kept).wake(RT_HERE);
    EXPECT_EQ(clockwork_run(&works), 0);
    const rt_executor_counters *counted = &works.runtime.executor.counters;
    EXPECT_EQ(counted->clones, counted->returned);
    rt_executor_fini(&works.runtime.executor);
}

/*
 * Goal: a waker made in C++ is woken from C, at the wake and once.
 * Method: a task polls what it waits for with a C++ waker, as a combinator does for its child; C
 * wakes the slot. The C++ object wakes the task in turn. All clones are given back.
 * Holds C3, W1, W6.
 */
TEST(cpp_wakeable_is_woken_from_c)
{
    bell rings;
    keeper keeps = {};
    listener listens = {};
    clockwork_init(&works, 0);
    rt::waker waker = rings.make_waker();
    listens.as = &waker;
    rt_slot_init(&listens.slot);
    rt_task_init(&listens.task, listener_poll, nullptr, "listener");
    EXPECT_EQ(rt_post(&works.runtime.executor, &listens.task), RT_OK);
    keeper_start(&keeps, &works, 2);
    EXPECT_EQ(clockwork_run(&works), 2);
    EXPECT_EQ(rings.wakers(), 2);
    rings.then = std::move(keeps.kept);
    EXPECT(rt_slot_wake(&listens.slot));
    EXPECT_EQ(rings.signalled, 1);
    EXPECT_EQ(rings.wakers(), 1);
    EXPECT(!rt_slot_wake(&listens.slot));
    EXPECT_EQ(clockwork_run(&works), 1);
    EXPECT(!rt_task_posted(&keeps.task));
    rt_task_cancel(&listens.task);
    waker = rt::waker();
    EXPECT_EQ(rings.wakers(), 0);
}

/*
 * Goal: the end of a C++ object whose waker is still out is found.
 * Method: end one that a slot of C holds a clone of.
 * Holds W1.
 */
TEST(cpp_wakeable_ending_before_its_wakers_is_a_fault)
{
    alignas(bell) static std::byte memory[sizeof(bell)];
    bell *rings = new (memory) bell;
    rt_waker out = rings->make_waker().release();
    EXPECT_FAULT(RT_E_IN_USE, rings->~bell());
    (void)out;
}
