/*
 * line.h -- the model of a line of waiters (sync/waiters.h): an array in the order of coming.
 *
 * Whoever has come stands in `order` until served or gone, so a place is kept by standing there.
 * Units go to the first who is awaited; what is promised of a line is six lines of line_serve and
 * six of line_turn. A waker that died makes its owner unawaited (line_waker_ended).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FUZZ_RUNTIME_LINE_H
#define FUZZ_RUNTIME_LINE_H

#include "fuzz/runtime/crowd.h"
#include "runtime/sync/waiters.h"

FUZZ_UNSEEN_BEGIN

enum line_stand {
    LINE_AWAY,
    LINE_QUEUED,
    LINE_GRANTED,
    LINE_CALLED, /* Woken without a unit. */
    LINE_PASSED  /* Its turn came when nobody awaited it. */
};

struct line_member {
    enum line_stand stand;
    uint8_t waker;  /* Stored last, or NOBODY. */
    uint8_t wanted; /* Units. */
    uint8_t held;
    bool called; /* All were woken while it stood here. */
};

struct line {
    struct crowd *crowd;
    struct line_member members[PEOPLE];
    uint8_t order[PEOPLE]; /* All but those who are away. */
    uint32_t count;
    uint32_t queued;
    uint32_t free;
    uint32_t assigned;
};

static inline void
line_init(struct line *line, struct crowd *crowd, uint32_t free)
{
    *line = (struct line){.crowd = crowd, .free = free};
}

static inline void
line_move(struct line *line, struct line_member *member, enum line_stand stand)
{
    line->queued -= member->stand == LINE_QUEUED;
    line->queued += stand == LINE_QUEUED;
    member->stand = stand;
}

static inline void
line_strip(struct line *line, struct line_member *member)
{
    line->assigned -= member->held;
    line->free += member->held;
    member->held = 0;
}

/* Takes as many of the free units as it still wants. */
static inline void
line_collect(struct line *line, struct line_member *member)
{
    uint32_t missing = (uint32_t)member->wanted - member->held;
    uint32_t units = missing < line->free ? missing : line->free;
    line->free -= units;
    line->assigned += units;
    member->held += (uint8_t)units;
}

static inline void
line_wake(struct line *line, struct line_member *member, enum line_stand stand)
{
    line_move(line, member, stand);
    crowd_write(&line->crowd->owed, member->waker);
    member->waker = NOBODY;
}

/* The first who queues and is awaited, NULL when there is none; those before are passed over. */
static inline struct line_member *
line_head(struct line *line)
{
    for (uint32_t i = 0; line->queued > 0; i++) {
        struct line_member *member = &line->members[line->order[i]];
        if (member->stand != LINE_QUEUED) {
            continue;
        }
        if (member->waker != NOBODY) {
            return member;
        }
        line_move(line, member, LINE_PASSED);
        line_strip(line, member);
    }
    return 0;
}

/* What is free goes to those who queue, in their order. */
static inline void
line_serve(struct line *line)
{
    struct line_member *head;
    while ((head = line_head(line)) != 0 && line->free > 0) {
        line_collect(line, head);
        if (head->held == head->wanted) {
            line_wake(line, head, LINE_GRANTED);
        }
    }
}

static inline void
line_give(struct line *line, uint32_t units)
{
    line->free += units;
    line_serve(line);
}

static inline bool
line_take(struct line *line, uint32_t units)
{
    if (line->free < units || line_head(line) != 0) {
        return false;
    }
    line->free -= units;
    return true;
}

static inline void
line_remove(struct line *line, uint32_t who)
{
    line_move(line, &line->members[who], LINE_AWAY);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < line->count; i++) {
        if (line->order[i] != who) {
            line->order[kept++] = line->order[i];
        }
    }
    line->count = kept;
}

/* Whether nobody who is awaited came before `who`; a newcomer comes last. */
static inline bool
line_turn(const struct line *line, uint32_t who, const struct line_member *head)
{
    if (head == 0 || line->members[who].wanted == 0) {
        return true;
    }
    for (uint32_t i = 0; i < line->count; i++) {
        if (line->order[i] == who) {
            return true;
        }
        if (&line->members[line->order[i]] == head) {
            return false;
        }
    }
    return false;
}

/* As rt_waiter_poll, with waker `waker`: true when the units are the caller's. */
static inline bool
line_poll(struct line *line, uint32_t who, uint32_t wanted, uint32_t waker)
{
    struct line_member *member = &line->members[who];
    if (member->stand == LINE_AWAY) {
        *member = (struct line_member){.waker = NOBODY, .wanted = (uint8_t)wanted};
    }
    line_serve(line);
    if (member->stand == LINE_GRANTED) {
        line->assigned -= member->held;
        line_remove(line, who);
        return true;
    }
    struct line_member *head = line_head(line);
    bool turn = line_turn(line, who, head);
    if (turn) {
        if (head != 0 && head != member) {
            line_strip(line, head);
        }
        line_collect(line, member);
        if (member->held == member->wanted) {
            line->assigned -= member->held;
            line_remove(line, who);
            line_serve(line);
            return true;
        }
    }
    if (member->stand == LINE_AWAY) {
        line->order[line->count++] = (uint8_t)who;
    }
    line_move(line, member, LINE_QUEUED);
    member->waker = (uint8_t)waker;
    return false;
}

/* As rt_waiter_leave. */
static inline void
line_leave(struct line *line, uint32_t who)
{
    struct line_member *member = &line->members[who];
    if (member->stand == LINE_AWAY) {
        return;
    }
    line_strip(line, member);
    line_remove(line, who);
    line_serve(line);
}

/* As rt_waiters_wake_all. */
static inline uint32_t
line_wake_all(struct line *line)
{
    uint32_t count = 0;
    struct line_member *head;
    while ((head = line_head(line)) != 0) {
        line_strip(line, head);
        line_wake(line, head, LINE_CALLED);
        count += 1;
    }
    for (uint32_t i = 0; i < line->count; i++) {
        line->members[line->order[i]].called = true;
    }
    return count;
}

/* As rt_waiters_revoke. */
static inline void
line_revoke(struct line *line)
{
    for (uint32_t i = 0; i < line->count; i++) {
        struct line_member *member = &line->members[line->order[i]];
        if (member->stand == LINE_GRANTED) {
            line_strip(line, member);
            line_move(line, member, LINE_CALLED);
        }
    }
    line->free = 0;
}

/* Waker `waker` wakes nobody any more: whoever it would wake is not awaited now. */
static inline void
line_waker_ended(struct line *line, uint32_t waker)
{
    for (uint32_t i = 0; i < PEOPLE; i++) {
        if (line->members[i].waker == waker) {
            line->members[i].waker = NOBODY;
        }
    }
}

/* Whether a call of all came while it stood here, as rt_waiter_was_called. */
static inline bool
line_was_called(const struct line *line, uint32_t who)
{
    const struct line_member *member = &line->members[who];
    return member->stand == LINE_CALLED || (member->stand == LINE_PASSED && member->called);
}

/* The line is as its model is. */
static inline void
line_compare(const struct line *line, const struct rt_waiters *waiters)
{
    fuzz_check(waiters->free == line->free);
    fuzz_check(waiters->assigned == line->assigned);
}

FUZZ_UNSEEN_END

#endif
