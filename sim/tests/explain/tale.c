/*
 * tale.c -- runs made by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/explain/tale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/record/site.h"

#define EVENTS 4096u
#define TEXTS 512u
#define BYTES 16384u

/* Lines that no edit of a test moves. */
static struct rt_site places[TALE_SITES];

static void
make_places(void)
{
    static char functions[TALE_SITES][16];
    for (uint32_t i = 0; i < TALE_SITES; i++) {
        (void)snprintf(functions[i], sizeof(functions[i]), "step_%u", i);
        places[i] = (struct rt_site){"app/story.c", functions[i], 10 * (i + 1), i, 0, 0, NULL};
    }
    sim_sites_add(places, places + TALE_SITES);
}

struct tale *
tale_new(void)
{
    struct tale *tale = calloc(1, sizeof(*tale));
    rt_assert(tale != NULL);
    tale->recorder.memory = (struct sim_record_memory){
            .events = calloc(EVENTS, sizeof(struct sim_event)),
            .events_capacity = EVENTS,
            .hashes = calloc(EVENTS, sizeof(uint64_t)),
            .hashes_capacity = EVENTS,
            .texts = calloc(TEXTS, sizeof(struct sim_text)),
            .texts_capacity = TEXTS,
            .bytes = calloc(BYTES, 1),
            .bytes_capacity = BYTES,
    };
    if (places[0].file == NULL) {
        sim_sites_init();
        make_places();
    }
    tale->actors = 1;
    sim_recorder_begin(&tale->recorder, true, true);
    return tale;
}

void
tale_free(struct tale *tale)
{
    free(tale->recorder.memory.events);
    free(tale->recorder.memory.hashes);
    free(tale->recorder.memory.texts);
    free(tale->recorder.memory.bytes);
    free(tale);
}

uint32_t
tale_site(uint32_t n)
{
    rt_assert(n < TALE_SITES && places[n].id != 0);
    return places[n].id;
}

void
tale_do_at(struct tale *tale, uint32_t kind, uint32_t object, uint64_t argument, uint32_t site,
        uint32_t await)
{
    const struct sim_event event = {
            .step = tale->step,
            .object = object,
            .site = site,
            .await = await,
            .actor = (uint16_t)tale->actor,
            .kind = (uint8_t)kind,
            .argument = argument,
    };
    sim_record(&tale->recorder, &event);
}

void
tale_do(struct tale *tale, uint32_t kind, uint32_t object, uint64_t argument)
{
    tale_do_at(tale, kind, object, argument, 0, 0);
}

uint32_t
tale_actor(struct tale *tale, enum sim_actor_kind kind, const char *name)
{
    rt_assert(tale->actors < TALE_ACTORS);
    uint32_t actor = tale->actors++;
    uint32_t before = tale->actor;
    uint32_t object_kind = kind == SIM_ACTOR_TASK     ? RT_OBJECT_TASK
                           : kind == SIM_ACTOR_SOURCE ? RT_OBJECT_SOURCE
                                                      : RT_OBJECT_NONE;
    if (object_kind != RT_OBJECT_NONE) {
        tale->objects[actor] = SIM_OBJECT(object_kind, 0, actor);
    }
    tale->actor = actor;
    tale_do(tale, SIM_EVENT_ACTOR, tale->objects[actor], (uint64_t)kind << 32 | (1000 + actor));
    tale->actor = before;
    if (name != NULL) {
        sim_record_text(&tale->recorder, SIM_TEXT_ACTOR, actor, name, strlen(name));
        tale_name(tale, tale->objects[actor], name);
    }
    return actor;
}

uint32_t
tale_task(struct tale *tale, const char *name)
{
    return tale_actor(tale, SIM_ACTOR_TASK, name);
}

uint32_t
tale_object_of(const struct tale *tale, uint32_t actor)
{
    rt_assert(actor < tale->actors);
    return tale->objects[actor];
}

void
tale_name(struct tale *tale, uint32_t object, const char *name)
{
    if (object != 0) {
        sim_record_text(&tale->recorder, SIM_TEXT_OBJECT, object, name, strlen(name));
    }
}

void
tale_step(struct tale *tale, uint32_t actor, uint64_t time_ns)
{
    tale->actor = actor;
    tale->step++;
    tale_do(tale, SIM_EVENT_STEP, 0, time_ns);
}

void
tale_poll(struct tale *tale, uint32_t task, uint64_t time_ns, uint32_t cause)
{
    tale_step(tale, task, time_ns);
    const struct sim_event poll = {
            .step = tale->step,
            .cause = cause,
            .object = tale->objects[task],
            .actor = (uint16_t)task,
            .kind = RT_PROBE_POLL,
    };
    sim_record(&tale->recorder, &poll);
}

void
tale_polled(struct tale *tale, uint32_t task, uint64_t answer)
{
    tale_do(tale, RT_PROBE_POLLED, tale->objects[task], answer);
    if (answer == 1) {
        tale_do(tale, RT_PROBE_COMPLETE, tale->objects[task], 0);
    }
}

void
tale_store(struct tale *tale, uint32_t task, uint32_t object, const char *reason, uint32_t await)
{
    if (reason != NULL) {
        sim_record_text(
                &tale->recorder, SIM_TEXT_EVENT, tale->recorder.count, reason, strlen(reason));
    }
    tale_do_at(tale, RT_PROBE_STORE, object, tale->objects[task], 0, await);
}

void
tale_say(struct tale *tale, uint32_t kind, const char *text)
{
    sim_record_text(&tale->recorder, SIM_TEXT_EVENT, tale->recorder.count, text, strlen(text));
    tale_do(tale, kind, 0, 0);
}

void
tale_clock(struct tale *tale, uint64_t time_ns)
{
    tale->actor = 0;
    tale_do(tale, SIM_EVENT_CLOCK, 0, time_ns);
}

void
tale_end(struct tale *tale, enum sim_verdict verdict, uint32_t actor)
{
    tale->actor = 0;
    tale_do(tale, SIM_EVENT_END, 0, verdict);
    tale->outcome.verdict = (uint8_t)verdict;
    tale->outcome.actor = actor;
    tale->outcome.fail_step = tale->step;
    tale->outcome.steps = tale->step;
    tale->outcome.digest = sim_recorder_end(&tale->recorder, 0);
}

/* An escape sequence is "ESC [ … m". */
static const char *
skip_escape(const char *c)
{
    while (*c != '\0' && *c != 'm') {
        c++;
    }
    return c;
}

uint32_t
tale_width(const char *text)
{
    uint32_t widest = 0;
    uint32_t width = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\033') {
            c = skip_escape(c);
        } else if (*c == '\n') {
            width = 0;
        } else {
            width += ((unsigned char)*c & 0xc0u) != 0x80u;
        }
        widest = width > widest ? width : widest;
    }
    return widest;
}
