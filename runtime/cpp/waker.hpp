/*
 * waker.hpp -- the runtime's wakers, held and made in C++.
 *
 * A waker is two words (task/waker.h), so another language can hold one and can be one:
 *
 *   rt::waker      a waker with one owner. It moves; a copy is explicit (clone), and its last
 *                  owner drops it: clones + 1 = wakes + drops, always (W1).
 *   rt::wakeable   an object of C++ that C wakes: derive from it and define `woken`.
 *
 * The site of a call is RT_HERE, written at the call: `std::move(w).wake(RT_HERE)`. Built
 * with -DRT_PROBES by g++, RT_HERE cannot be used in a function that several files may define
 * (inline ones, members defined in their class, templates), unless that is in an unnamed namespace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_CPP_WAKER_HPP
#define RT_CPP_WAKER_HPP

#include <cstdint>

#include "runtime/base/assert.h"
#include "runtime/task/cx.h"
#include "runtime/task/waker.h"

namespace rt
{

class waker
{
  public:
    /* Null: may be woken and dropped, and does nothing. */
    waker() = default;

    /* Takes the reference that the caller had: of rt_slot_take, say. */
    explicit waker(rt_waker taken) : raw(taken)
    {
    }

    /* A clone of the current waker of a poll. */
    static waker of(const rt_cx *cx, const rt_site *await)
    {
        return waker(rt_waker_clone_at(rt_cx_waker(cx), await));
    }

    waker(waker &&other) noexcept : raw(other.release())
    {
    }

    /* What was held here is dropped. */
    waker &operator=(waker &&other) noexcept
    {
        rt_waker taken = other.release();
        rt_waker_drop_at(&raw, nullptr);
        raw = taken;
        return *this;
    }

    ~waker()
    {
        rt_waker_drop_at(&raw, nullptr);
    }

    [[nodiscard]] waker clone(const rt_site *await) const
    {
        return waker(rt_waker_clone_at(&raw, await));
    }

    /* Wakes, and is null before any other code runs. */
    void wake(const rt_site *await) &&
    {
        rt_waker_wake_at(&raw, await);
    }

    void wake_by_ref(const rt_site *await) const
    {
        rt_waker_wake_by_ref_at(&raw, await);
    }

    /* Null afterwards; the reference is the caller's, to be woken or dropped in C. */
    [[nodiscard]] rt_waker release()
    {
        rt_waker released = raw;
        raw = rt_waker{};
        return released;
    }

    /* Borrowed: for a call that clones what it keeps. */
    const rt_waker &get() const
    {
        return raw;
    }

    /* True unless null. */
    explicit operator bool() const
    {
        return !rt_waker_is_null(&raw);
    }

    bool will_wake(const waker &other) const
    {
        return rt_waker_will_wake(&raw, &other.raw);
    }

  private:
    rt_waker raw{};
};

/*
 * What a waker made in C++ points at. It counts its existing wakers, and must outlive them: its
 * end before theirs is fault RT_E_IN_USE. Pinned.
 */
class wakeable
{
  public:
    wakeable() = default;
    wakeable(const wakeable &) = delete;
    wakeable &operator=(const wakeable &) = delete;

    /* A new waker of this object. */
    [[nodiscard]] waker make_waker()
    {
        out++;
        return waker(rt_waker{&vt, reinterpret_cast<std::uintptr_t>(this)});
    }

    /* How many of its wakers exist. */
    std::uint32_t wakers() const
    {
        return out;
    }

  protected:
    ~wakeable()
    {
        if (out != 0) {
            rt_fault(RT_E_IN_USE, nullptr, "an object was ended while wakers of it exist");
        }
    }

    /* Called at each wake, with nothing held: it may wake, clone and drop, and re-enter the
     * runtime. `await` is the line that woke; pass it on. */
    virtual void woken(const rt_site *await) = 0;

  private:
    static wakeable *of(const rt_waker &waker)
    {
        return reinterpret_cast<wakeable *>(waker.data);
    }

    static rt_waker clone_one(const rt_waker *waker, const rt_site *)
    {
        of(*waker)->out++;
        return *waker;
    }

    /* The reference is given back last: while `woken` runs, the object must not go. */
    static void wake_one(rt_waker waker, const rt_site *await)
    {
        of(waker)->woken(await);
        drop_one(waker, await);
    }

    static void wake_by_ref_one(const rt_waker *waker, const rt_site *await)
    {
        of(*waker)->woken(await);
    }

    static void drop_one(rt_waker waker, const rt_site *)
    {
        wakeable *self = of(waker);
        rt_assert(self->out > 0);
        self->out--;
    }

    static constexpr rt_waker_vt vt = {clone_one, wake_one, wake_by_ref_one, drop_one};

    std::uint32_t out = 0;
};

} /* namespace rt */

#endif
