/*
 * people.h -- six people before one line: what notify, semaphore, mutex and broadcast share.
 *
 * They wait, poll as they like (woken or not, with any of their wakers), give up at any time, and
 * their wakers die. Where the tape says so, whoever is woken makes another give up at once, who may
 * be woken by the same call or have what the next one gets (W7). What is waited for, and what else
 * may happen to it, is the target's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FUZZ_RUNTIME_PEOPLE_H
#define FUZZ_RUNTIME_PEOPLE_H

#include "fuzz/runtime/line.h"

FUZZ_UNSEEN_BEGIN

struct people_ways;

struct people {
    struct crowd crowd;
    struct line line;
    bool waiting[PEOPLE]; /* Has a future that is neither READY nor dropped. */
    const struct people_ways *ways;
    uint32_t victim; /* Whom the next who is woken makes give up; PEOPLE: nobody. */
};

/* What a target does. Each function does it to its model first, then to the thing itself. */
struct people_ways {
    void (*begin)(uint32_t who, struct fuzz_tape *tape); /* Makes the future; does not poll it. */
    bool (*poll)(uint32_t who, uint32_t waker);          /* Whether it is READY. */
    void (*drop)(uint32_t who);
    void (*act)(struct fuzz_tape *tape); /* Whatever is done from outside. */
    void (*compare)(void);
    bool meddles; /* What `act` wakes may make others give up. */
};

static inline void
people_init(struct people *people, uint32_t units)
{
    crowd_init(&people->crowd);
    line_init(&people->line, &people->crowd, units);
    for (uint32_t i = 0; i < PEOPLE; i++) {
        people->waiting[i] = false;
    }
    people->victim = PEOPLE;
}

static inline void
people_drop(struct people *people, const struct people_ways *ways, uint32_t who)
{
    if (people->waiting[who]) {
        people->waiting[who] = false;
        ways->drop(who);
    }
}

/*
 * What the model had done before anybody was woken goes on where it was: those who are woken from
 * in here come before those who were still to be woken, but for who has given up.
 */
static inline void
people_meddle(struct crowd *crowd, uint32_t number)
{
    (void)number;
    struct people *people = rt_container_of(crowd, struct people, crowd);
    uint32_t victim = people->victim;
    if (victim == PEOPLE || !people->waiting[victim]) {
        return;
    }
    people->victim = PEOPLE;
    struct crowd_log later = crowd->owed;
    uint32_t heard = crowd->heard.count;
    crowd->owed.count = heard;
    people_drop(people, people->ways, victim);
    for (uint32_t i = heard; i < later.count; i++) {
        if (later.numbers[i] / WAKERS != victim) {
            crowd_write(&crowd->owed, later.numbers[i]);
        }
    }
}

static inline void
people_poll(struct people *people, const struct people_ways *ways, uint32_t waker,
        struct fuzz_tape *tape)
{
    uint32_t who = waker / WAKERS;
    if (!people->waiting[who]) {
        ways->begin(who, tape);
    }
    people->waiting[who] = !ways->poll(who, waker);
}

/* The tape to its end; then all give up, and nobody is left. */
static inline void
people_run(struct people *people, const struct people_ways *ways, struct fuzz_tape *tape)
{
    people->ways = ways;
    people->crowd.on_wake = people_meddle;
    while (fuzz_more(tape)) {
        uint32_t what = fuzz_below(tape, 9);
        uint32_t waker = what < 3 ? 0 : fuzz_below(tape, PEOPLE * WAKERS);
        if (what < 3) {
            ways->act(tape);
        } else if (what == 8) {
            people->victim = ways->meddles ? waker / WAKERS : PEOPLE;
            ways->act(tape);
        } else if (what < 6) {
            people_poll(people, ways, waker, tape);
        } else if (what == 6) {
            people_drop(people, ways, waker / WAKERS);
        } else if (crowd_end(&people->crowd, waker)) {
            line_waker_ended(&people->line, waker);
        }
        people->victim = PEOPLE;
        ways->compare();
        crowd_compare(&people->crowd);
    }
    for (uint32_t i = 0; i < PEOPLE; i++) {
        people_drop(people, ways, i);
    }
    ways->compare();
    fuzz_check(people->line.count == 0 && people->line.assigned == 0);
}

FUZZ_UNSEEN_END

#endif
