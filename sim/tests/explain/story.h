/*
 * story.h -- a blocked task and an actor that is to wake it, made by hand, and their report.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>

#include "sim/tests/explain/tale.h"

/* What a poll answers. */
#define PENDING 0
#define READY 1

/* A blocked task that waits for an item, and an actor that is to bring it. */
struct story {
    struct tale *tale;
    struct sim_page page;
    uint32_t waiter;
    uint32_t bringer;
    uint32_t slot;
    uint32_t self; /* The blocked task's object. */
};

/* Makes both; story_end must follow. */
void story_begin(struct story *story);

/* Step 1, as a rule: the blocked task looks, stores its waker, and sleeps. */
void story_sleep(struct story *story);

/* A step of the bringer; its events follow. */
void story_bring(struct story *story);

/* Frees all of it; what was reported is no wider than a page. */
void story_end(struct story *story);

/* The paragraph "why" of a lost wake-up that `owed` should have prevented. */
const char *why_lost(struct story *story, uint32_t owed);

/* The headline and the paragraph of `story`. `progressed`: as in struct sim_run_view;
 * head_and_why: false. */
const char *head_and_why_of(struct story *story, bool progressed);
const char *head_and_why(struct story *story);

/* What the judge found it by, and said. */
void story_says(struct story *story, enum sim_oracle oracle, const char *message);

/* The run was judged a deadlock, in which `actor` said that it waits for `reason`. */
void story_waits(struct story *story, uint32_t actor, const char *reason);
