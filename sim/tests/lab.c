/*
 * lab.c -- a world for tests, and short ways to run something in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/lab.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/core/record/site.h"

#define EVENTS 65536u
#define HASHES (EVENTS / SIM_CHUNK)
#define TEXTS 4096u
#define BYTES 65536u
#define DEVIATIONS 65536u

static void *
array(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

void
lab_init(struct lab *lab, void *hint, uint8_t fill)
{
    sim_sites_init();
    struct sim_world_memory memory = {
            .record =
                    {
                            .events = array(EVENTS, sizeof(struct sim_event)),
                            .events_capacity = EVENTS,
                            .hashes = array(HASHES, sizeof(uint64_t)),
                            .hashes_capacity = HASHES,
                            .texts = array(TEXTS, sizeof(struct sim_text)),
                            .texts_capacity = TEXTS,
                            .bytes = array(BYTES, 1),
                            .bytes_capacity = BYTES,
                    },
            .tape = {array(DEVIATIONS, sizeof(struct sim_deviation)), 0, DEVIATIONS},
    };
    sim_world_init(&lab->world, &memory, hint, fill);
    sim_random_init(&lab->random);
    sim_baseline_init(&lab->baseline);
}

void
lab_fini(struct lab *lab)
{
    free(lab->world.recorder.memory.events);
    free(lab->world.recorder.memory.hashes);
    free(lab->world.recorder.memory.texts);
    free(lab->world.recorder.memory.bytes);
    free(lab->world.decider.tape.entries);
    sim_world_fini(&lab->world);
}

static struct sim_strategy *
strategy_of(struct lab *lab, bool plain)
{
    return plain ? &lab->baseline.strategy : &lab->random.strategy;
}

struct sim_outcome
lab_run(struct lab *lab, const struct sim_scenario *scenario, uint64_t seed, bool plain)
{
    struct sim_options options;
    struct sim_outcome outcome;
    sim_options_init(&options, scenario);
    sim_world_run(&lab->world, scenario, &options, seed, strategy_of(lab, plain),
            (struct sim_recording){true, true}, &outcome);
    return outcome;
}

struct sim_outcome
lab_judge_with(struct lab *lab, const struct sim_scenario *scenario,
        const struct sim_options *options, uint64_t seed, bool plain)
{
    struct sim_outcome outcome;
    struct sim_case what = {scenario, *options, seed, strategy_of(lab, plain), false};
    sim_judge(&lab->world, &what, (struct sim_recording){true, true}, &outcome);
    (void)sim_judge_missing_wake(&lab->world, &what, &outcome);
    return outcome;
}

struct sim_outcome
lab_judge(struct lab *lab, const struct sim_scenario *scenario, uint64_t seed, bool plain)
{
    struct sim_options options;
    sim_options_init(&options, scenario);
    return lab_judge_with(lab, scenario, &options, seed, plain);
}

char *
lab_events(const struct lab *lab)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    const struct sim_recorder *recorder = &lab->world.recorder;
    if (file == NULL) {
        abort();
    }
    for (uint64_t i = sim_recorder_first(recorder); i < recorder->count; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        (void)fprintf(file, "%u %u %s %x %llu\n", event->step, event->actor,
                sim_event_name(event->kind), event->object, (unsigned long long)event->argument);
    }
    (void)fclose(file);
    return text;
}
