/*
 * wheel.c -- the slots of the timer wheel: put, remove, advance the time, find the earliest.
 *
 * A slot is the first node of a ring of timers, and a bit that says whether there is one:
 *
 *      occupied[1]  = ..1..1      slots[level 1] = [?][?][ *]──▶ timer ◀─▶ timer ◀─▶ (back)
 *                                                [?][?][ *]──▶ timer ◀─▶ (back)
 *
 * A ring needs no head node, so nothing has to be initialised, and a slot whose
 * bit is clear (the ?) is never read.
 *
 * The first of a ring is its earliest: a timer that is earlier than the first goes to the front,
 * where it precedes no equal one (M8), all others to the end. So the next deadline is found
 * without a walk. A removal of the first ends that until the slot is empty again (`unled`), and
 * the ring is then walked. Small machines always walk.
 *
 * Only the top level wraps. Below it the digits above a slot's own are those
 * of `elapsed`, and its digit is greater: it lies ahead in this turn. In the top
 * level a slot at or before the digit of `elapsed` is entered in the next turn,
 * and a timer that is not due by then is put again, usually in the same slot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/time/wheel.h"

#include "runtime/base/assert.h"
#include "runtime/base/small.h"

#include "runtime/base/banned.h"

/* A slot, and the next time at which it is entered. */
struct wheel_slot {
    uint32_t level;
    uint32_t index;
    uint64_t start;
};

static inline uint64_t
bit(uint32_t index)
{
    return UINT64_C(1) << index;
}

static inline uint32_t
digit(const struct rt_timers *timers, uint64_t tick, uint32_t level)
{
    return (uint32_t)((tick >> (rt__wheel_bits(timers) * level)) &
                      (bit(rt__wheel_bits(timers)) - 1));
}

static inline uint64_t
tick_of(const struct rt_timers *timers, const struct rt_timer *timer)
{
    return rt__wheel_tick(timers, timer->deadline_ns);
}

static struct rt_list **
slot_at(const struct rt_timers *timers, uint32_t level, uint32_t index)
{
    rt_assert(level < rt__wheel_levels(timers));
    rt_assert(index < bit(rt__wheel_bits(timers)));
    return &timers->slots[(level << rt__wheel_bits(timers)) + index];
}

/* Whether the first timer of the slot is the earliest in it. */
static inline bool
is_led(const struct rt_timers *timers, uint32_t level, uint32_t index)
{
#ifdef RT_SMALL
    return (void)timers, (void)level, (void)index, false;
#else
    return (timers->unled[level] & bit(index)) == 0;
#endif
}

/* The first of a slot was removed while others stay (true), or the slot has a new first. */
static inline void
set_unled(struct rt_timers *timers, uint32_t level, uint32_t index, bool unled)
{
#ifdef RT_SMALL
    (void)timers, (void)level, (void)index, (void)unled;
#else
    timers->unled[level] = (timers->unled[level] & ~bit(index)) | (unled ? bit(index) : 0);
#endif
}

/* The level of the highest digit in which `tick` differs from `elapsed`, or the top level (M9). */
static uint32_t
level_for(const struct rt_timers *timers, uint64_t tick)
{
    rt_assert(tick > timers->elapsed);
    uint32_t highest = 63 - (uint32_t)__builtin_clzll(tick ^ timers->elapsed);
    uint32_t level = highest / rt__wheel_bits(timers);
    return level < rt__wheel_levels(timers) ? level : rt__wheel_levels(timers) - 1;
}

/* When time enters the slot next: in this turn of its level or, of the top level only, the next. */
static uint64_t
start_of(const struct rt_timers *timers, uint32_t level, uint32_t index)
{
    rt_assert(level < rt__wheel_levels(timers)); /* Of a single level all below is constant. */
    uint32_t shift = rt__wheel_bits(timers) * level;
    uint32_t turn_shift = shift + rt__wheel_bits(timers);
    uint64_t turn = turn_shift < 64 ? timers->elapsed >> turn_shift << turn_shift : 0;
    uint64_t start = turn + ((uint64_t)index << shift);
    if (index <= digit(timers, timers->elapsed, level)) {
        rt_assert(level == rt__wheel_levels(timers) - 1);
        rt_assert(turn_shift < 64);
        start += UINT64_C(1) << turn_shift;
    }
    /* No wrap: no slot is entered later than the deadlines of what is in it. */
    rt_assert(start > timers->elapsed);
    return start;
}

/* The first of `slots`, a set of bits that is not empty, that time will enter. */
static struct wheel_slot
first_of(const struct rt_timers *timers, uint32_t level, uint64_t slots)
{
    rt_assert(slots != 0);
    rt_assert(level < rt__wheel_levels(timers));
    uint32_t now = digit(timers, timers->elapsed, level);
    uint64_t ahead = slots & ~((UINT64_C(2) << now) - 1);
    uint32_t index = (uint32_t)__builtin_ctzll(ahead != 0 ? ahead : slots);
    return (struct wheel_slot){level, index, start_of(timers, level, index)};
}

/* The lowest level that is not empty. Its timers are due before those above. */
static uint32_t
lowest_level(const struct rt_timers *timers)
{
    uint32_t level = 0;
    while (level < rt__wheel_levels(timers) && timers->occupied[level] == 0) {
        level += 1;
    }
    return level;
}

void
rt__wheel_put(struct rt_timers *timers, struct rt_timer *timer, uint64_t tick)
{
    rt_assert(timer->place == RT_TIMER_IDLE);
    uint32_t level = level_for(timers, tick);
    uint32_t index = digit(timers, tick, level);
    struct rt_list **slot = slot_at(timers, level, index);
    if ((timers->occupied[level] & bit(index)) == 0) {
        timers->occupied[level] |= bit(index);
        rt_list_init(&timer->link);
        *slot = &timer->link;
        set_unled(timers, level, index, false);
    } else {
        rt_list_push_back(*slot, &timer->link); /* Before the first: after the last. */
        if (is_led(timers, level, index) &&
                timer->deadline_ns < rt__wheel_timer(*slot)->deadline_ns) {
            *slot = &timer->link;
        }
    }
    timer->place = RT_TIMER_IN_WHEEL;
    timer->level = (uint8_t)level;
    timer->index = (uint16_t)index;
}

void
rt__wheel_remove(struct rt_timers *timers, struct rt_timer *timer)
{
    rt_assert(timer->place == RT_TIMER_IN_WHEEL);
    rt_assert((timers->occupied[timer->level] & bit(timer->index)) != 0);
    struct rt_list **slot = slot_at(timers, timer->level, timer->index);
    if (rt_list_empty(&timer->link)) {
        rt_assert(*slot == &timer->link);
        timers->occupied[timer->level] &= ~bit(timer->index);
    } else if (*slot == &timer->link) {
        *slot = timer->link.next;
        set_unled(timers, timer->level, timer->index, true);
    }
    rt_list_unlink(&timer->link);
    timer->place = RT_TIMER_IDLE;
}

/* Moves all timers of a slot after those of `to`, in their order. The slot is empty then. */
static void
detach(struct rt_timers *timers, const struct wheel_slot *slot, struct rt_list *to)
{
    struct rt_list *first = *slot_at(timers, slot->level, slot->index);
    struct rt_list ring;
    rt_assert((timers->occupied[slot->level] & bit(slot->index)) != 0);
    timers->occupied[slot->level] &= ~bit(slot->index);
    rt_list_push_back(first, &ring); /* A head for the ring. */
    rt_list_splice(to, &ring);
}

/* Detaches every slot that time enters on its way to `now`. */
static void
enter(struct rt_timers *timers, uint64_t now, struct rt_list *entered)
{
    for (uint32_t level = lowest_level(timers); level < rt__wheel_levels(timers);
            level = lowest_level(timers)) {
        struct wheel_slot slot = first_of(timers, level, timers->occupied[level]);
        if (slot.start > now) {
            break;
        }
        detach(timers, &slot, entered);
    }
}

/* Timers of a slot are scattered in memory, and each address is known only from the one before. So
 * while a walk is at `link`, a second pointer walks from the other end of the ring: then two loads
 * are under way at a time. NULL: they have met, and what is left is in the cache. */
static inline struct rt_list *
send_ahead(struct rt_list *opposite, const struct rt_list *link)
{
#ifdef RT_SMALL
    return (void)link, opposite; /* No cache, nothing to fetch. */
#endif
    if (opposite == NULL || opposite == link || opposite->prev == link) {
        return NULL;
    }
    RT_PREFETCH(opposite->prev);
    return opposite->prev;
}

/*
 * All slots on the way are emptied first, and what is not due is put once, from
 * the time reached. Walking slot by slot, each time putting the timers a level
 * lower, would give the same; but a timer beyond the top level would be put again
 * in every turn that a long jump passes, and there may be 2^60.
 */
void
rt__wheel_advance(struct rt_timers *timers, uint64_t now, struct rt_list *due)
{
    struct rt_list entered;
    struct rt_list *link;
    rt_assert(now >= timers->elapsed);
    rt_list_init(&entered);
    enter(timers, now, &entered);
    timers->elapsed = now;
    struct rt_list *opposite = entered.prev;
    while ((link = entered.next) != &entered) {
        opposite = send_ahead(opposite, link);
        rt_list_unlink(link);
        struct rt_timer *timer = rt__wheel_timer(link);
        rt_assert(timer->place == RT_TIMER_IN_WHEEL);
        uint64_t tick = tick_of(timers, timer);
        if (tick <= now) {
            timer->place = RT_TIMER_PENDING;
            RT_PREFETCH(&timer->slot.waker);
            rt_list_push_back(due, link);
        } else {
            timer->place = RT_TIMER_IDLE;
            rt__wheel_put(timers, timer, tick);
        }
    }
}

/* The earliest deadline in one slot that is not empty. */
static uint64_t
earliest_in(const struct rt_timers *timers, const struct wheel_slot *slot)
{
    struct rt_list *first = *slot_at(timers, slot->level, slot->index);
    uint64_t start_ns = slot->start * rt__wheel_tick_ns(timers);
    uint64_t earliest_ns = rt__wheel_timer(first)->deadline_ns;
    if (is_led(timers, slot->level, slot->index)) {
        return earliest_ns;
    }
    struct rt_list *opposite = first;
    for (struct rt_list *link = first->next; link != first && earliest_ns > start_ns;
            link = link->next) {
        opposite = send_ahead(opposite, link);
        uint64_t deadline_ns = rt__wheel_timer(link)->deadline_ns;
        earliest_ns = deadline_ns < earliest_ns ? deadline_ns : earliest_ns;
    }
    rt_assert(earliest_ns >= start_ns);
    return earliest_ns;
}

/*
 * Below the top level the first slot has it. In the top level what is in the
 * first slot may be turns away, so slots are checked until the next one begins
 * too late.
 */
uint64_t
rt__wheel_earliest(const struct rt_timers *timers)
{
    uint64_t earliest_ns = RT_NEVER;
    uint32_t level = lowest_level(timers);
    uint64_t slots = level < rt__wheel_levels(timers) ? timers->occupied[level] : 0;
    while (slots != 0) {
        struct wheel_slot slot = first_of(timers, level, slots);
        if (slot.start * rt__wheel_tick_ns(timers) >= earliest_ns) {
            break;
        }
        uint64_t slot_ns = earliest_in(timers, &slot);
        earliest_ns = slot_ns < earliest_ns ? slot_ns : earliest_ns;
        slots &= ~bit(slot.index);
    }
    return earliest_ns;
}

/* Checks that `timer` is where it would be put now. */
static void
audit_timer(const struct rt_timers *timers, const struct rt_timer *timer, uint32_t level,
        uint32_t index)
{
    uint64_t tick = tick_of(timers, timer);
    rt_assert(timer->place == RT_TIMER_IN_WHEEL);
    rt_assert(timer->level == level);
    rt_assert(timer->index == index);
    rt_assert(timer->deadline_ns == tick * rt__wheel_tick_ns(timers));
    rt_assert(tick > timers->elapsed);
    rt_assert(level_for(timers, tick) == level);
    rt_assert(digit(timers, tick, level) == index);
    rt_assert(start_of(timers, level, index) <= tick);
}

/* Checks one slot, and that equal neighbours are in the order of their starts (M8). */
static uint32_t
audit_slot(const struct rt_timers *timers, uint32_t level, uint32_t index)
{
    struct rt_list *first = *slot_at(timers, level, index);
    struct rt_list *link = first;
    uint32_t count = 0;
    do {
        const struct rt_timer *timer = rt__wheel_timer(link);
        const struct rt_timer *next = rt__wheel_timer(link->next);
        rt_assert(link->next->prev == link);
        audit_timer(timers, timer, level, index);
        rt_assert(link->next == first || next->deadline_ns != timer->deadline_ns ||
                  next->start_order > timer->start_order);
        rt_assert(!is_led(timers, level, index) ||
                  rt__wheel_timer(first)->deadline_ns <= timer->deadline_ns);
        count += 1;
        link = link->next;
    } while (link != first);
    return count;
}

uint32_t
rt__wheel_audit(const struct rt_timers *timers)
{
    uint32_t count = 0;
    for (uint32_t level = 0; level < RT_TIMERS_LEVELS_MAX; level++) {
        uint64_t slots = timers->occupied[level];
        rt_assert(slots == 0 || level < rt__wheel_levels(timers));
        while (slots != 0) {
            uint32_t index = (uint32_t)__builtin_ctzll(slots);
            count += audit_slot(timers, level, index);
            slots &= slots - 1;
        }
    }
    return count;
}
