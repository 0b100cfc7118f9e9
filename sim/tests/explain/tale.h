/*
 * tale.h -- runs made by hand, for the tests of what tells a run.
 *
 *      struct tale *tale = tale_new();
 *      uint32_t client = tale_task(tale, "client");
 *      tale_step(tale, client, 0);
 *      tale_do(tale, RT_PROBE_POLL, tale_object_of(tale, client), 0);
 *      …
 *      tale_free(tale);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/page.h"
#include "sim/core/actor.h"
#include "sim/core/record/outcome.h"
#include "sim/core/record/recorder.h"

#define TALE_ACTORS 64u
#define TALE_SITES 8u

struct tale {
    struct sim_recorder recorder;
    struct sim_outcome outcome;
    uint32_t objects[TALE_ACTORS]; /* By actor: the task or source that it is. */
    uint32_t actors;
    uint32_t actor; /* Whose events come now. */
    uint32_t step;
};

/* A recorder with room for 4096 events. */
struct tale *tale_new(void);
void tale_free(struct tale *tale);

/* The `n`-th of some places: story.c, line 10 * (n + 1), in step_<n>(). Their ids are never 0. */
uint32_t tale_site(uint32_t n);

/* A new actor; NULL: without a name. Tasks and sources have an object. */
uint32_t tale_actor(struct tale *tale, enum sim_actor_kind kind, const char *name);
uint32_t tale_task(struct tale *tale, const char *name);

/* The object of an actor; a new number of `kind` made by `actor`; its name. */
uint32_t tale_object_of(const struct tale *tale, uint32_t actor);
void tale_name(struct tale *tale, uint32_t object, const char *name);

/* The next step is a step of `actor` at `time_ns`. */
void tale_step(struct tale *tale, uint32_t actor, uint64_t time_ns);

/* Something happens in this step. */
void tale_do(struct tale *tale, uint32_t kind, uint32_t object, uint64_t argument);
void tale_do_at(struct tale *tale, uint32_t kind, uint32_t object, uint64_t argument, uint32_t site,
        uint32_t await);

/* A poll of `task` begins, as a step of its own; it ends with `answer`. `cause`: the step that
 * woke. */
void tale_poll(struct tale *tale, uint32_t task, uint64_t time_ns, uint32_t cause);
void tale_polled(struct tale *tale, uint32_t task, uint64_t answer);

/* A waker of `task` is stored in this step for `object`, with `reason` (NULL: none), at `await`. */
void tale_store(
        struct tale *tale, uint32_t task, uint32_t object, const char *reason, uint32_t await);

/* An actor says something (LOG) or prints it (OUT). */
void tale_say(struct tale *tale, uint32_t kind, const char *text);

/* No actor can run; the clock moves to `time_ns`. */
void tale_clock(struct tale *tale, uint64_t time_ns);

/* The run ends with `verdict`, about `actor`. */
void tale_end(struct tale *tale, enum sim_verdict verdict, uint32_t actor);

/* The width of the widest line of `text`, without escape sequences. */
uint32_t tale_width(const char *text);
