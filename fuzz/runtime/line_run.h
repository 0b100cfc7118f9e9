/*
 * line_run.h -- six clients at one line: what notify, semaphore, mutex and broadcast share.
 *
 * They wait, poll at any time (woken or not, with any of their wakers), drop their futures at any
 * time, and their wakers are closed. If the tape says so, a wake makes another client drop its
 * future at once, which may be woken by the same call or have the next one's grant (W7). The
 * primitive, and its other operations, are the target's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FUZZ_RUNTIME_LINE_RUN_H
#define FUZZ_RUNTIME_LINE_RUN_H

#include "fuzz/runtime/line.h"

FUZZ_UNSEEN_BEGIN

struct line_ops;

struct line_run {
    struct clients clients;
    struct line line;
    bool waiting[CLIENTS]; /* Has a future that is neither READY nor dropped. */
    const struct line_ops *ops;
    uint32_t victim; /* The client that drops its future at the next wake; CLIENTS: none. */
};

/* A target's operations. Each function updates its model first, then the primitive. */
struct line_ops {
    void (*begin)(uint32_t id, struct fuzz_tape *tape); /* Makes the future; does not poll it. */
    bool (*poll)(uint32_t id, uint32_t waker);          /* Whether it is READY. */
    void (*drop)(uint32_t id);
    void (*act)(struct fuzz_tape *tape); /* An operation from outside. */
    void (*compare)(void);
    bool drops_victim; /* The wakes of `act` may make others drop their futures. */
};

static inline void
line_run_init(struct line_run *base, uint32_t units)
{
    clients_init(&base->clients);
    line_init(&base->line, &base->clients, units);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        base->waiting[i] = false;
    }
    base->victim = CLIENTS;
}

static inline void
line_run_drop(struct line_run *base, const struct line_ops *ops, uint32_t id)
{
    if (base->waiting[id]) {
        base->waiting[id] = false;
        ops->drop(id);
    }
}

/* The rest of the model's current wakes continues afterwards: wakes caused in here come before
 * those that were still pending, without those of the client that left. */
static inline void
line_run_drop_victim(struct clients *clients, uint32_t number)
{
    (void)number;
    struct line_run *base = rt_container_of(clients, struct line_run, clients);
    uint32_t victim = base->victim;
    if (victim == CLIENTS || !base->waiting[victim]) {
        return;
    }
    base->victim = CLIENTS;
    struct clients_log later = clients->expected;
    uint32_t woken = clients->woken.count;
    clients->expected.count = woken;
    line_run_drop(base, base->ops, victim);
    for (uint32_t i = woken; i < later.count; i++) {
        if (later.numbers[i] / WAKERS != victim) {
            clients_write(&clients->expected, later.numbers[i]);
        }
    }
}

static inline void
line_run_poll(
        struct line_run *base, const struct line_ops *ops, uint32_t waker, struct fuzz_tape *tape)
{
    uint32_t id = waker / WAKERS;
    if (!base->waiting[id]) {
        ops->begin(id, tape);
    }
    base->waiting[id] = !ops->poll(id, waker);
}

/* Runs the tape to its end; then all clients leave, and the line is empty. */
static inline void
line_run_input(struct line_run *base, const struct line_ops *ops, struct fuzz_tape *tape)
{
    base->ops = ops;
    base->clients.on_wake = line_run_drop_victim;
    while (fuzz_more(tape)) {
        uint32_t what = fuzz_below(tape, 9);
        uint32_t waker = what < 3 ? 0 : fuzz_below(tape, CLIENTS * WAKERS);
        if (what < 3) {
            ops->act(tape);
        } else if (what == 8) {
            base->victim = ops->drops_victim ? waker / WAKERS : CLIENTS;
            ops->act(tape);
        } else if (what < 6) {
            line_run_poll(base, ops, waker, tape);
        } else if (what == 6) {
            line_run_drop(base, ops, waker / WAKERS);
        } else if (clients_end(&base->clients, waker)) {
            line_waker_ended(&base->line, waker);
        }
        base->victim = CLIENTS;
        ops->compare();
        clients_compare(&base->clients);
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        line_run_drop(base, ops, i);
    }
    ops->compare();
    fuzz_check(base->line.count == 0 && base->line.assigned == 0);
}

FUZZ_UNSEEN_END

#endif
