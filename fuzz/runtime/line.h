/*
 * line.h -- the model of a line of waiters (sync/waiters.h): an array in the order of arrival.
 *
 * A waiter stays in `order` until it is served or leaves, which keeps its position. Units go to the
 * first that is awaited; the promises of a line are six lines of line_serve and six of line_turn. A
 * closed waker makes its owner unawaited (line_waker_ended).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FUZZ_RUNTIME_LINE_H
#define FUZZ_RUNTIME_LINE_H

#include "fuzz/runtime/clients.h"
#include "runtime/sync/waiters.h"

FUZZ_UNSEEN_BEGIN

enum line_state {
    LINE_AWAY,
    LINE_QUEUED,
    LINE_GRANTED,
    LINE_CALLED, /* Woken without a unit. */
    LINE_PASSED  /* Its turn came while it was not awaited. */
};

struct line_member {
    enum line_state state;
    uint8_t waker;  /* Stored last, or NONE. */
    uint8_t wanted; /* Units. */
    uint8_t held;
    bool called; /* All were woken while it was in the line. */
};

struct line {
    struct clients *clients;
    struct line_member members[CLIENTS];
    uint8_t order[CLIENTS]; /* All but LINE_AWAY. */
    uint32_t count;
    uint32_t queued;
    uint32_t free;
    uint32_t assigned;
};

static inline void
line_init(struct line *line, struct clients *clients, uint32_t free)
{
    *line = (struct line){.clients = clients, .free = free};
}

static inline void
line_move(struct line *line, struct line_member *member, enum line_state state)
{
    line->queued -= member->state == LINE_QUEUED;
    line->queued += state == LINE_QUEUED;
    member->state = state;
}

static inline void
line_strip(struct line *line, struct line_member *member)
{
    line->assigned -= member->held;
    line->free += member->held;
    member->held = 0;
}

/* Takes as many of the free units as it still needs. */
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
line_wake(struct line *line, struct line_member *member, enum line_state state)
{
    line_move(line, member, state);
    clients_write(&line->clients->expected, member->waker);
    member->waker = NONE;
}

/* The first queued and awaited one, NULL when there is none; those before it are passed over. */
static inline struct line_member *
line_head(struct line *line)
{
    for (uint32_t i = 0; line->queued > 0; i++) {
        struct line_member *member = &line->members[line->order[i]];
        if (member->state != LINE_QUEUED) {
            continue;
        }
        if (member->waker != NONE) {
            return member;
        }
        line_move(line, member, LINE_PASSED);
        line_strip(line, member);
    }
    return 0;
}

/* Gives the free units to the queued ones, in their order. */
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
line_remove(struct line *line, uint32_t id)
{
    line_move(line, &line->members[id], LINE_AWAY);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < line->count; i++) {
        if (line->order[i] != id) {
            line->order[kept++] = line->order[i];
        }
    }
    line->count = kept;
}

/* Whether no awaited waiter is before `id`; a newcomer is last. */
static inline bool
line_turn(const struct line *line, uint32_t id, const struct line_member *head)
{
    if (head == 0 || line->members[id].wanted == 0) {
        return true;
    }
    for (uint32_t i = 0; i < line->count; i++) {
        if (line->order[i] == id) {
            return true;
        }
        if (&line->members[line->order[i]] == head) {
            return false;
        }
    }
    return false;
}

/* As rt_waiter_poll, with waker `waker`: true when the caller gets the units. */
static inline bool
line_poll(struct line *line, uint32_t id, uint32_t wanted, uint32_t waker)
{
    struct line_member *member = &line->members[id];
    if (member->state == LINE_AWAY) {
        *member = (struct line_member){.waker = NONE, .wanted = (uint8_t)wanted};
    }
    line_serve(line);
    if (member->state == LINE_GRANTED) {
        line->assigned -= member->held;
        line_remove(line, id);
        return true;
    }
    struct line_member *head = line_head(line);
    bool turn = line_turn(line, id, head);
    if (turn) {
        if (head != 0 && head != member) {
            line_strip(line, head);
        }
        line_collect(line, member);
        if (member->held == member->wanted) {
            line->assigned -= member->held;
            line_remove(line, id);
            line_serve(line);
            return true;
        }
    }
    if (member->state == LINE_AWAY) {
        line->order[line->count++] = (uint8_t)id;
    }
    line_move(line, member, LINE_QUEUED);
    member->waker = (uint8_t)waker;
    return false;
}

/* As rt_waiter_leave. */
static inline void
line_leave(struct line *line, uint32_t id)
{
    struct line_member *member = &line->members[id];
    if (member->state == LINE_AWAY) {
        return;
    }
    line_strip(line, member);
    line_remove(line, id);
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
        if (member->state == LINE_GRANTED) {
            line_strip(line, member);
            line_move(line, member, LINE_CALLED);
        }
    }
    line->free = 0;
}

/* Waker `waker` is closed: its owner is not awaited now. */
static inline void
line_waker_ended(struct line *line, uint32_t waker)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        if (line->members[i].waker == waker) {
            line->members[i].waker = NONE;
        }
    }
}

/* Whether all were woken while it was in the line, as rt_waiter_was_called. */
static inline bool
line_was_called(const struct line *line, uint32_t id)
{
    const struct line_member *member = &line->members[id];
    return member->state == LINE_CALLED || (member->state == LINE_PASSED && member->called);
}

/* The line equals its model. */
static inline void
line_compare(const struct line *line, const struct rt_waiters *waiters)
{
    fuzz_check(waiters->free == line->free);
    fuzz_check(waiters->assigned == line->assigned);
}

FUZZ_UNSEEN_END

#endif
