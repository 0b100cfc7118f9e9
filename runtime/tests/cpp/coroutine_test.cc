/*
 * coroutine_test.cc -- C++ coroutines as tasks: what they await, their memory, their end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/cpp/coroutine.hpp"

#include "runtime/compose/join.h"
#include "runtime/tests/io/dumb_host.h"
#include "runtime/tests/test.h"
#include "runtime/tests/time/clockwork.h"

namespace
{

clockwork works;
alignas(std::max_align_t) std::byte memory[2048];

/* A future of C: ready when its flag is set. */
struct gate {
    rt_future future;
    rt_slot slot;
    bool open;
    unsigned polls;
    unsigned drops;
};

gate *
gate_of(rt_future *future)
{
    return reinterpret_cast<gate *>(future);
}

rt_poll
gate_poll(rt_future *future, rt_cx *cx)
{
    gate *self = gate_of(future);
    self->polls++;
    if (self->open) {
        return RT_READY;
    }
    rt_slot_replace(&self->slot, cx, "the gate");
    return RT_PENDING;
}

void
gate_drop(rt_future *future)
{
    gate_of(future)->drops++;
    rt_slot_clear(&gate_of(future)->slot);
}

void
gate_init(gate *self)
{
    *self = gate{};
    rt_slot_init(&self->slot);
    rt_future_init(&self->future, gate_poll, gate_drop, "gate");
}

void
gate_open(gate *self)
{
    self->open = true;
    rt_slot_wake(&self->slot);
}

/* Writes its letter when it goes. */
struct last_word {
    char *&at;
    char word;

    ~last_word()
    {
        *at++ = word;
    }
};

rt_executor *
executor()
{
    return &works.runtime.executor;
}

rt::coroutine
through(rt::frames &, gate &first, unsigned &passed)
{
    co_await first.future;
    passed++;
}

rt::coroutine
three_naps(rt::frames &, unsigned &naps)
{
    for (int i = 0; i < 3; i++) {
        co_await rt::sleep(50 * RT_MS, RT_HERE);
        naps++;
    }
}

rt::coroutine
whole(rt::frames &in, gate &first, unsigned &passed, rt_err &err)
{
    err = co_await through(in, first, passed);
    passed += 10;
}

rt::coroutine
nothing(rt::frames &)
{
    co_return;
}

} /* namespace */

/*
 * Goal: a coroutine is polled as a task is: it sleeps, and continues when its sleep is over.
 * Method: three sleeps of 50 ms under a clock moved by hand; count the polls.
 * Holds M1, T2.
 */
TEST(coroutine_sleeps_and_continues)
{
    unsigned naps = 0;
    clockwork_init(&works, 0);
    rt::frames in(memory);
    rt::task task(three_naps(in, naps), "napper");
    EXPECT_EQ(task.post(executor(), RT_HERE), RT_OK);
    EXPECT_EQ(naps, 0);
    EXPECT_EQ(clockwork_run(&works), 1);
    EXPECT_EQ(clockwork_at(&works, 50 * RT_MS - 1), 0);
    EXPECT_EQ(clockwork_at(&works, 50 * RT_MS), 1);
    EXPECT_EQ(clockwork_at(&works, 100 * RT_MS), 1);
    EXPECT_EQ(naps, 2);
    EXPECT_EQ(clockwork_at(&works, 200 * RT_MS), 1);
    EXPECT_EQ(naps, 3);
    EXPECT(!rt_task_posted(task.raw()));
    EXPECT_EQ(works.runtime.timers.armed, 0);
}

/*
 * Goal: it is resumed only to continue; at any wake before that, what it awaits is polled.
 * Method: wake its task twice spuriously while it awaits a future of C, then open the gate.
 * Holds W3, C3.
 */
TEST(coroutine_woken_spuriously_polls_what_it_awaits)
{
    gate first;
    unsigned passed = 0;
    clockwork_init(&works, 0);
    gate_init(&first);
    rt::frames in(memory);
    rt::task task(through(in, first, passed), "walker");
    EXPECT_EQ(task.post(executor(), RT_HERE), RT_OK);
    EXPECT_EQ(clockwork_run(&works), 1);
    rt_task_wake(task.raw());
    EXPECT_EQ(clockwork_run(&works), 1);
    rt_task_wake(task.raw());
    EXPECT_EQ(clockwork_run(&works), 1);
    EXPECT_EQ(first.polls, 3);
    EXPECT_EQ(passed, 0);
    gate_open(&first);
    EXPECT_EQ(clockwork_run(&works), 1);
    EXPECT_EQ(passed, 1);
    EXPECT_EQ(first.drops, 0);
}

/*
 * Goal: the report of blocked tasks names what a coroutine awaits, as it does for C.
 * Method: a coroutine inside a coroutine before a gate; read the report.
 * Holds D5.
 */
TEST(coroutine_that_sleeps_reports_why)
{
    gate first;
    unsigned passed = 0;
    rt_err err = RT_OK;
    char text[64];
    static dumb_runtime dumb;
    dumb_init(&dumb);
    gate_init(&first);
    rt::frames in(memory);
    rt::task task(whole(in, first, passed, err), "walker");
    EXPECT_EQ(task.post(&dumb.runtime.executor, RT_HERE), RT_OK);
    dumb_run(&dumb);
    EXPECT_EQ(rt_runtime_report(&dumb.runtime, text, sizeof(text)), 1);
    EXPECT_STR(text, "walker: the gate\n");
    gate_open(&first);
    dumb_run(&dumb);
    EXPECT_EQ(passed, 11);
    EXPECT_EQ(err, RT_OK);
}

/*
 * Goal: a task of C waits for a coroutine, and a coroutine for a task of C.
 * Method: one coroutine joins another's task by its rt_task.
 * Holds T19.
 */
TEST(coroutine_joins_a_task)
{
    gate first;
    unsigned passed = 0;
    bool joined = false;
    clockwork_init(&works, 0);
    gate_init(&first);
    rt::frames in(memory);
    rt::task walker(through(in, first, passed), "walker");
    auto wait = [](rt::frames &, rt_task *of, bool &done) -> rt::coroutine {
        co_await rt::join(of, RT_HERE);
        done = true;
    };
    rt::task waiter(wait(in, walker.raw(), joined), "waiter");
    EXPECT_EQ(walker.post(executor(), RT_HERE), RT_OK);
    EXPECT_EQ(waiter.post(executor(), RT_HERE), RT_OK);
    EXPECT_EQ(clockwork_run(&works), 2);
    EXPECT(!joined);
    gate_open(&first);
    EXPECT_EQ(clockwork_run(&works), 2);
    EXPECT(joined);
}

/*
 * Goal: any call of C that polls can be awaited.
 * Method: a coroutine polls a gate by rt::until; it is asked once more when the gate has opened.
 * Holds C3.
 */
TEST(coroutine_awaits_a_call_of_c)
{
    gate first;
    unsigned asked = 0;
    unsigned answer = 0;
    clockwork_init(&works, 0);
    gate_init(&first);
    rt::frames in(memory);
    auto body = [](rt::frames &, gate &at, unsigned &asks, unsigned &got) -> rt::coroutine {
        co_await rt::until([&](rt_cx *cx) {
            asks++;
            return gate_poll(&at.future, cx);
        });
        got = 7;
    };
    rt::task task(body(in, first, asked, answer), "asker");
    EXPECT_EQ(task.post(executor(), RT_HERE), RT_OK);
    EXPECT_EQ(clockwork_run(&works), 1);
    gate_open(&first);
    EXPECT_EQ(clockwork_run(&works), 1);
    EXPECT_EQ(asked, 2);
    EXPECT_EQ(answer, 7);
}

/*
 * Goal: a frame that does not fit is an error with a name, and its body does not begin.
 * Method: provide memory for the outer frame only; then for none.
 * Holds T20.
 */
TEST(coroutine_without_space_for_its_frame_is_full)
{
    gate first;
    unsigned passed = 0;
    rt_err err = RT_OK;
    std::size_t outer;
    clockwork_init(&works, 0);
    gate_init(&first);
    {
        rt::frames in(memory);
        rt::coroutine only = whole(in, first, passed, err);
        outer = in.wanted();
    }
    {
        rt::frames in(std::span(memory, outer));
        rt::task task(whole(in, first, passed, err), "walker");
        EXPECT_EQ(task.post(executor(), RT_HERE), RT_OK);
        EXPECT_EQ(clockwork_run(&works), 1);
        EXPECT_EQ(err, RT_E_FULL);
        EXPECT_EQ(passed, 10);
        EXPECT(in.wanted() > outer);
    }
    rt::frames in(std::span(memory, outer - 1));
    rt::task task(whole(in, first, passed, err), "walker");
    EXPECT_EQ(task.post(executor(), RT_HERE), RT_E_FULL);
    EXPECT(!rt_task_posted(task.raw()));
    rt_cx none = {};
    EXPECT_FAULT(RT_E_FULL, (void)whole(in, first, passed, err).poll(&none));
}

/*
 * Goal: a coroutine that is cancelled ends as its scopes do, and withdraws what it awaited.
 * Method: cancel one that sleeps inside a part of it; the newest object goes first, the timer is
 * disarmed, the frames are free again, and a join is woken.
 * Holds T9, T15, G10.
 */
TEST(coroutine_cancelled_takes_back_what_it_awaited)
{
    char words[4] = "";
    char *at = words;
    clockwork_init(&works, 0);
    rt::frames in(memory);
    auto inner = [](rt::frames &, char *&to) -> rt::coroutine {
        last_word b{to, 'b'};
        co_await rt::sleep(RT_MS, RT_HERE);
        last_word never{to, '!'};
    };
    auto outer = [&inner](rt::frames &frames, char *&to) -> rt::coroutine {
        last_word a{to, 'a'};
        (void)co_await inner(frames, to);
    };
    rt::task task(outer(in, at), "waiter");
    EXPECT_EQ(task.post(executor(), RT_HERE), RT_OK);
    EXPECT_EQ(clockwork_run(&works), 1);
    EXPECT_EQ(works.runtime.timers.armed, 1);
    task.cancel(RT_HERE);
    EXPECT_STR(words, "ba");
    EXPECT_EQ(works.runtime.timers.armed, 0);
    EXPECT_EQ(task.raw()->end, RT_TASK_CANCELLED);
    EXPECT_EQ(task.post(executor(), RT_HERE), RT_E_FINISHED);
    rt::frames again(memory);
    EXPECT(!nothing(again).empty());
}

/*
 * Goal: a coroutine that cancels its own task runs to its next await, and no further.
 * Method: cancel from inside the body; what follows the await must not run.
 * Holds T15.
 */
TEST(coroutine_cancelling_itself_ends_at_its_next_await)
{
    char words[4] = "";
    char *at = words;
    clockwork_init(&works, 0);
    rt::frames in(memory);
    rt_task *self = nullptr;
    auto body = [](rt::frames &, rt_task *&task, char *&to) -> rt::coroutine {
        last_word a{to, 'a'};
        rt_task_cancel(task);
        *to++ = '-';
        co_await rt::sleep(RT_MS, RT_HERE);
        *to++ = '!';
    };
    rt::task task(body(in, self, at), "self");
    self = task.raw();
    EXPECT_EQ(task.post(executor(), RT_HERE), RT_OK);
    EXPECT_EQ(clockwork_run(&works), 1);
    EXPECT_STR(words, "-a");
    EXPECT_EQ(works.runtime.timers.armed, 0);
}

/*
 * Goal: the owner's end is the task's (T19), and a future that was awaited is dropped once.
 * Method: let an rt::task go while it awaits a gate; its executor knows no task any more.
 * Holds T19.
 */
TEST(coroutine_goes_with_its_owner)
{
    gate first;
    unsigned passed = 0;
    clockwork_init(&works, 0);
    gate_init(&first);
    {
        rt::frames in(memory);
        rt::task task(through(in, first, passed), "walker");
        EXPECT_EQ(task.post(executor(), RT_HERE), RT_OK);
        EXPECT_EQ(clockwork_run(&works), 1);
    }
    EXPECT_EQ(first.drops, 1);
    EXPECT_EQ(passed, 0);
    EXPECT_EQ(executor()->posted, 0);
    rt_executor_fini(&works.runtime.executor);
}

/*
 * Goal: a combinator of C holds coroutines as it holds any future.
 * Method: rt_join over two of them; each is polled when its own gate opens, and once.
 * Holds J1, J3.
 */
TEST(coroutine_is_a_child_of_a_join)
{
    gate gates[2];
    unsigned passed[2] = {};
    clockwork_init(&works, 0);
    gate_init(&gates[0]);
    gate_init(&gates[1]);
    rt::frames in(memory);
    rt::future left(through(in, gates[0], passed[0]), "left");
    rt::future right(through(in, gates[1], passed[1]), "right");
    EXPECT(!left.empty() && !right.empty());
    rt_child children[2] = {};
    children[0].future = left.raw();
    children[1].future = right.raw();
    rt_join join;
    rt_join_init(&join, children, 2);
    bool done = false;
    auto body = [](rt::frames &, rt_join &of, bool &ended) -> rt::coroutine {
        co_await of.future;
        ended = true;
    };
    rt::task task(body(in, join, done), "parent");
    EXPECT_EQ(task.post(executor(), RT_HERE), RT_OK);
    EXPECT_EQ(clockwork_run(&works), 1);
    gate_open(&gates[1]);
    EXPECT_EQ(clockwork_run(&works), 1);
    EXPECT_EQ(gates[0].polls, 1);
    EXPECT_EQ(passed[1], 1);
    EXPECT(!done);
    gate_open(&gates[0]);
    EXPECT_EQ(clockwork_run(&works), 1);
    EXPECT(done);
}

/*
 * Goal: a coroutine that is over is not polled again.
 * Method: poll a future of one by hand, past the end.
 * Holds T20.
 */
TEST(coroutine_over_is_not_polled_again)
{
    clockwork_init(&works, 0);
    rt::frames in(memory);
    rt::coroutine body = nothing(in);
    rt_cx none = {};
    EXPECT_EQ(body.poll(&none), RT_READY);
    EXPECT_FAULT(RT_E_FINISHED, (void)body.poll(&none));
}

/*
 * Goal: frames are given back in any order, and their memory does not end before them.
 * Method: give back the older of two first; the memory is there again when both have gone.
 */
TEST(coroutine_frames_come_back_in_any_order)
{
    clockwork_init(&works, 0);
    rt::frames in(memory);
    rt::coroutine first = nothing(in);
    std::size_t one = in.wanted();
    rt::coroutine second = nothing(in);
    EXPECT_EQ(in.wanted(), 2 * one);
    first.drop();
    rt::coroutine third = nothing(in);
    EXPECT_EQ(in.wanted(), 3 * one);
    third.drop();
    second.drop();
    rt::coroutine fourth = nothing(in);
    rt::coroutine fifth = nothing(in);
    rt::coroutine sixth = nothing(in);
    EXPECT_EQ(in.wanted(), 3 * one);
    EXPECT_FAULT(RT_E_IN_USE, in.~frames());
}
