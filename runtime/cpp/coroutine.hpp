/*
 * coroutine.hpp -- a C++ coroutine as a task of the runtime.
 *
 *      static rt::coroutine
 *      blink(rt::frames &frames, lamp &lamp)
 *      {
 *          for (int i = 0; i < 3; i++) {
 *              lamp.toggle();
 *              co_await rt::sleep(50 * RT_MS, RT_HERE);
 *          }
 *      }
 *
 *      alignas(std::max_align_t) static std::byte memory[1024];
 *      rt::frames frames(memory);
 *      rt::task blinker(blink(frames, lamp), "blinker");
 *      rt_err err = blinker.post(&runtime->executor, RT_HERE);
 *
 * How it waits. `co_await` polls what it awaits with the context of the poll that runs, at once; if
 * that is READY, the coroutine continues. Otherwise the poll answers PENDING, and the next poll
 * polls the awaited object again, before anything of the coroutine runs. So it is resumed only to
 * continue, and wakers, wait reasons and rules of polls are those of the awaited object (C3).
 *
 * What can be awaited:
 *
 *   a future             rt_future &, of the caller's; dropped with the coroutine
 *   a sleep              rt::sleep(ns, RT_HERE)
 *   the end of a task    rt::join(task, RT_HERE)
 *   another coroutine    part(frames, ...): rt_err, see below
 *   anything in C        rt::until([&](rt_cx *cx) { return rt_wait_for(&wait, &pollable, cx); }),
 *                        or any object with `rt_poll poll(rt_cx *cx)`; its destructor must take
 *                        back what a poll has registered
 *
 * Memory. The first parameter of a coroutine is the rt::frames in which its frame is put (in a
 * member or a lambda, the first after the object); without one it does not compile. Nothing comes
 * from the heap. Where the frame does not fit, the coroutine is empty: rt::task::post and co_await
 * answer RT_E_FULL, and its body has not begun.
 *
 * Its end. When the body returns, or the task is cancelled, or the rt::task goes: the frame's
 * objects are destroyed, the newest first, so that its waits are withdrawn, before the joiner is
 * woken (T9). An exception that leaves the body is fault RT_E_INVALID.
 *
 * Locals of a coroutine are in its frame and survive an await; a temporary of the expression that
 * is awaited lives until the await is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_CPP_COROUTINE_HPP
#define RT_CPP_COROUTINE_HPP

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include "runtime/compose/future.h"
#include "runtime/task/executor.h"
#include "runtime/time/sleep.h"

namespace rt
{

/*
 * Memory for frames: a stack in caller-provided memory, borrowed for its life. A frame that is
 * freed below one that lives becomes free when that has gone too. Destroyed while a frame lives:
 * fault RT_E_IN_USE. Pinned.
 */
class frames
{
  public:
    explicit frames(std::span<std::byte> buffer) : memory(buffer)
    {
        rt_assert(reinterpret_cast<std::uintptr_t>(buffer.data()) % alignof(std::max_align_t) == 0);
    }

    frames(const frames &) = delete;
    frames &operator=(const frames &) = delete;

    ~frames()
    {
        if (newest != nullptr) {
            rt_fault(RT_E_IN_USE, nullptr, "the memory of coroutine frames ends before they do");
        }
    }

    /* The most bytes that were in use at a time, refused requests included: so much must be
     * provided. */
    std::size_t wanted() const
    {
        return most;
    }

    /* For promises: NULL when it does not fit. */
    void *take(std::size_t size) noexcept
    {
        std::size_t end = used + sizeof(block) + rounded(size);
        most = end > most ? end : most;
        if (end > memory.size()) {
            return nullptr;
        }
        newest = new (memory.data() + used) block{this, newest, used, true};
        used = end;
        return newest + 1;
    }

    static void give(void *frame) noexcept
    {
        block *given = static_cast<block *>(frame) - 1;
        given->lives = false;
        given->owner->shrink();
    }

  private:
    /* Precedes each frame. */
    struct alignas(std::max_align_t) block {
        frames *owner;
        block *below;
        std::size_t begin;
        bool lives;
    };

    static std::size_t rounded(std::size_t size)
    {
        return (size + alignof(block) - 1) / alignof(block) * alignof(block);
    }

    void shrink()
    {
        while (newest != nullptr && !newest->lives) {
            used = newest->begin;
            newest = newest->below;
        }
    }

    std::span<std::byte> memory;
    block *newest = nullptr;
    std::size_t used = 0;
    std::size_t most = 0;
};

/* An object that is polled with a context and answers PENDING or READY. */
template <typename T>
concept pollable = std::same_as<decltype(std::declval<T &>().poll(nullptr)), rt_poll>;

class coroutine
{
  public:
    struct promise_type;
    using handle = std::coroutine_handle<promise_type>;

    coroutine() = default;
    coroutine(coroutine &&other) noexcept : frame(std::exchange(other.frame, nullptr))
    {
    }
    coroutine &operator=(coroutine &&) = delete;

    ~coroutine()
    {
        drop();
    }

    /* True where its frame did not fit, and after drop. */
    bool empty() const
    {
        return !frame;
    }

    /* Drops it: destroys its frame. Empty already: no-op. Not from inside its own poll: for that
     * there is rt::task::cancel. */
    void drop()
    {
        handle dropped = std::exchange(frame, nullptr);
        if (dropped) {
            dropped.destroy();
        }
    }

    /*
     * READY when the body has returned; polled then: fault RT_E_FINISHED (T20). An empty one: fault
     * RT_E_FULL.
     */
    rt_poll poll(rt_cx *cx);

  private:
    explicit coroutine(handle made) : frame(made)
    {
    }

    handle frame;
};

namespace detail
{

/* What a coroutine waits for now; lies in its frame, as long as the await lasts. */
struct awaited {
    rt_poll (*ask)(awaited *self, rt_cx *cx);
};

/* Polls `what`, a member or a reference to an object that the statement holds. */
template <typename P> struct await : awaited {
    template <typename... Arguments>
    await(coroutine::promise_type &asked_by, Arguments &&...arguments)
        : awaited{ask_what}, promise(asked_by), what(std::forward<Arguments>(arguments)...)
    {
    }
    await(const await &) = delete;
    await &operator=(const await &) = delete;

    bool await_ready();
    void await_suspend(std::coroutine_handle<>) noexcept
    {
    }
    auto await_resume()
    {
        if constexpr (requires { what.result(); }) {
            return what.result();
        }
    }

  private:
    static rt_poll ask_what(awaited *self, rt_cx *cx)
    {
        return static_cast<await *>(self)->what.poll(cx);
    }

    coroutine::promise_type &promise;
    P what;
};

struct await_future {
    rt_future &future;

    explicit await_future(rt_future &awaited) : future(awaited)
    {
    }
    await_future(const await_future &) = delete;
    await_future &operator=(const await_future &) = delete;
    ~await_future()
    {
        rt_future_drop(&future);
    }

    rt_poll poll(rt_cx *cx)
    {
        return rt_future_poll(&future, cx);
    }
};

struct await_part {
    coroutine part;
    rt_err err;

    explicit await_part(coroutine &&awaited)
        : part(std::move(awaited)), err(part.empty() ? RT_E_FULL : RT_OK)
    {
    }

    /* The frame goes when the part has ended, not at the end of the statement that awaits it. */
    rt_poll poll(rt_cx *cx)
    {
        rt_poll answer = err == RT_OK ? part.poll(cx) : RT_READY;
        if (answer == RT_READY) {
            part.drop();
        }
        return answer;
    }

    rt_err result() const
    {
        return err;
    }
};

} /* namespace detail */

struct coroutine::promise_type {
    rt_cx *cx = nullptr; /* Of the poll that runs; NULL between two. */
    rt_poll answer = RT_PENDING;
    detail::awaited *waits_for = nullptr;

    /* For functions, and for members and lambdas. There is no other one: a coroutine that is given
     * no frames does not compile. Inline also without optimisation, as gcc 12 otherwise warns that
     * this pair does not match. */
    template <typename... Rest>
    __attribute__((always_inline)) static inline void *operator new(
            std::size_t size, frames &in, Rest &&...) noexcept
    {
        return in.take(size);
    }
    template <typename Self, typename... Rest>
    __attribute__((always_inline)) static inline void *operator new(
            std::size_t size, Self &&, frames &in, Rest &&...) noexcept
    {
        return in.take(size);
    }
    __attribute__((always_inline)) static inline void operator delete(
            void *frame, std::size_t) noexcept
    {
        frames::give(frame);
    }

    static coroutine get_return_object_on_allocation_failure() noexcept
    {
        return coroutine();
    }
    coroutine get_return_object() noexcept
    {
        return coroutine(handle::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept
    {
        return {};
    }
    std::suspend_always final_suspend() noexcept
    {
        return {};
    }
    void return_void() noexcept
    {
    }
    void unhandled_exception() noexcept
    {
        rt_fault(RT_E_INVALID, nullptr, "an exception has left a coroutine");
    }

    template <pollable P> detail::await<P &&> await_transform(P &&what)
    {
        return {*this, std::forward<P>(what)};
    }
    detail::await<detail::await_future> await_transform(rt_future &future)
    {
        return {*this, future};
    }
    detail::await<detail::await_part> await_transform(coroutine &&part)
    {
        return {*this, std::move(part)};
    }
};

template <typename P>
bool
detail::await<P>::await_ready()
{
    rt_assert(promise.cx != nullptr);
    promise.answer = what.poll(promise.cx);
    if (promise.answer == RT_READY) {
        return true;
    }
    promise.waits_for = this;
    return false;
}

inline rt_poll
coroutine::poll(rt_cx *cx)
{
    if (!frame) {
        rt_fault(RT_E_FULL, nullptr, "a coroutine was polled whose frame did not fit");
    }
    if (frame.done()) {
        rt_fault(RT_E_FINISHED, nullptr, "a coroutine was polled that has ended");
    }
    promise_type &promise = frame.promise();
    if (promise.waits_for != nullptr) {
        rt_poll answer = promise.waits_for->ask(promise.waits_for, cx);
        if (answer != RT_READY) {
            return answer;
        }
        promise.waits_for = nullptr;
    }
    promise.cx = cx;
    frame.resume();
    promise.cx = nullptr;
    return frame.done() ? RT_READY : promise.answer;
}

/* A sleep of `duration_ns` from its await on. */
class sleep
{
  public:
    sleep(std::uint64_t duration_ns, const rt_site *await_site) : await(await_site)
    {
        rt_sleep_init(&raw, duration_ns);
    }
    sleep(const sleep &) = delete;
    sleep &operator=(const sleep &) = delete;
    ~sleep()
    {
        rt_sleep_cancel_at(&raw, await);
    }

    rt_poll poll(rt_cx *cx)
    {
        return rt_sleep_poll_at(&raw, cx, await);
    }

  private:
    rt_sleep raw;
    const rt_site *await;
};

/* The end of `task`, of any kind (rt_task_join). */
class join
{
  public:
    join(rt_task *of, const rt_site *await_site) : task(of), await(await_site)
    {
    }

    rt_poll poll(rt_cx *cx)
    {
        return rt_task_join_at(task, cx, await);
    }

  private:
    rt_task *task;
    const rt_site *await;
};

/* The answer of `ask(cx)`, an rt_poll: for the calls of C. */
template <typename F> struct until {
    F ask;

    explicit until(F asked) : ask(std::move(asked))
    {
    }

    rt_poll poll(rt_cx *cx)
    {
        return ask(cx);
    }
};

/*
 * A coroutine with its own task. Pinned. The owner: what is still posted at its end is
 * cancelled (T19); from inside its own poll that is fault RT_E_IN_USE.
 */
class task : private rt_task
{
  public:
    /* Takes `body`; `name` is borrowed. */
    task(coroutine &&made, const char *task_name)
        : rt_task(), body(std::move(made)), made_err(body.empty() ? RT_E_FULL : RT_OK)
    {
        rt_task_init(raw(), poll_body, drop_body, task_name);
    }
    task(const task &) = delete;
    task &operator=(const task &) = delete;
    ~task()
    {
        rt_task_cancel_at(raw(), nullptr);
        rt_task_fini(raw());
    }

    /* Errors of rt_post; RT_E_FULL also where the frame did not fit, RT_E_FINISHED when the body
     * has ended, which no post begins again. */
    RT_MUST_CHECK rt_err post(rt_executor *executor, const rt_site *await)
    {
        rt_err err = made_err != RT_OK ? made_err : body.empty() ? RT_E_FINISHED : RT_OK;
        return err == RT_OK ? rt_post_at(executor, raw(), await) : err;
    }

    void cancel(const rt_site *await)
    {
        rt_task_cancel_at(raw(), await);
    }

    /* For the calls of C. */
    rt_task *raw()
    {
        return this;
    }

  private:
    static rt_poll poll_body(rt_task *of, rt_cx *cx)
    {
        return static_cast<task *>(of)->body.poll(cx);
    }

    static void drop_body(rt_task *of)
    {
        static_cast<task *>(of)->body.drop();
    }

    coroutine body;
    rt_err made_err;
};

/* A coroutine as a future, for the combinators of C: rt_join, rt_race and their like. Pinned. An
 * empty one is fault RT_E_FULL at its first poll: check `empty` before. */
class future : private rt_future
{
  public:
    /* Takes `body`; `name` is borrowed. */
    future(coroutine &&made, const char *future_name) : rt_future(), body(std::move(made))
    {
        rt_future_init(raw(), poll_body, drop_body, future_name);
    }
    future(const future &) = delete;
    future &operator=(const future &) = delete;
    ~future()
    {
        rt_future_drop(raw());
    }

    bool empty() const
    {
        return body.empty();
    }

    rt_future *raw()
    {
        return this;
    }

  private:
    static rt_poll poll_body(rt_future *of, rt_cx *cx)
    {
        return static_cast<future *>(of)->body.poll(cx);
    }

    static void drop_body(rt_future *of)
    {
        static_cast<future *>(of)->body.drop();
    }

    coroutine body;
};

} /* namespace rt */

#endif
