/*
 * shrunk.c -- how far a run was minimized, as a sentence, a table, and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/shrunk.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/cli/print/run.h"
#include "sim/cli/subject/subject.h"

/* The limit that ended it; "" where the run is minimal. */
static const char *
limit_of(const struct sim_shrunk *shrunk)
{
    return shrunk->end == SIM_SHRINK_MINIMAL ? "" : sim_shrink_end_text(shrunk->end);
}

char *
sim_shrunk_sentence(const struct sim_shrunk *shrunk)
{
    const char *limit = limit_of(shrunk);
    if (!sim_shrunk_holds(shrunk)) {
        return sim_heap_printf("Not minimized: %s.", shrunk->end == SIM_SHRINK_SYSTEM
                                                             ? shrunk->error
                                                             : sim_shrink_end_text(shrunk->end));
    }
    bool smaller = sim_shrink_key_compare(&shrunk->to, &shrunk->from) != 0;
    char was[24] = "";
    (void)snprintf(was, sizeof(was), "was %u; ", shrunk->from.deviations);
    return sim_heap_printf(
            "%s: %u scheduling choice%s from the default schedule (%s%u replay%s%s%s).",
            smaller ? "Minimized" : "Already minimal", shrunk->to.deviations,
            shrunk->to.deviations == 1 ? " differs" : "s differ", smaller ? was : "",
            shrunk->replays, shrunk->replays == 1 ? "" : "s", *limit != '\0' ? "; " : "", limit);
}

/* The parts of the key in their order. */
#define PARTS 8u
struct values {
    uint64_t of[PARTS];
};

static const struct part {
    const char *key; /* In JSON. */
    const char *name;
    const char *about;
} parts[PARTS] = {
        {"options", "options", "that are not the defaults"},
        {"faults", "faults", "injected"},
        {"actors", "actors", "that take steps"},
        {"preemptions", "preemptions", "a step out of the run queue's order"},
        {"deviations", "deviations", "from the baseline run, in all"},
        {"blocks", "blocks", "of steps by one actor"},
        {"sim_ns", "time", "virtual, ns"},
        {"steps", "steps", "of the run"},
};

static struct values
values_of(const struct sim_shrink_key *key)
{
    return (struct values){{key->options, key->faults, key->actors, key->preemptions,
            key->deviations, key->blocks, key->sim_ns, key->steps}};
}

void
sim_shrunk_print(const struct sim_shrunk *shrunk)
{
    struct values from = values_of(&shrunk->from);
    struct values to = values_of(&shrunk->to);
    (void)printf("%-12s %12s %12s\n", "", "from", "to");
    for (uint32_t i = 0; i < PARTS; i++) {
        (void)printf("%-12s %12llu %12llu  %s\n", parts[i].name, (unsigned long long)from.of[i],
                (unsigned long long)to.of[i], parts[i].about);
    }
}

static void
put_key(struct sim_json *json, const char *name, const struct sim_shrink_key *key)
{
    struct values values = values_of(key);
    sim_json_open(json, name, '{');
    for (uint32_t i = 0; i < PARTS; i++) {
        sim_json_number(json, parts[i].key, values.of[i]);
    }
    sim_json_close(json, '}');
}

void
sim_shrunk_json(struct sim_json *json, const struct sim_shrunk *shrunk)
{
    SIM_JSON_PUT(json, SIM_TEXT("end", sim_shrunk_word(shrunk->end)),
            SIM_NUMBER("replays", shrunk->replays));
    put_key(json, "from", &shrunk->from);
    put_key(json, "to", &shrunk->to);
}

const char *
sim_shrunk_word(enum sim_shrink_end end)
{
    static const char *const words[] = {"minimal", "replays", "time", "hangs", "interrupted",
            "not-again", "unstable", "system"};
    rt_assert((uint32_t)end < sizeof(words) / sizeof(*words));
    return words[end];
}

char *
sim_shrunk_token(const struct sim_scenario *scenario, const struct sim_shrunk *shrunk)
{
    rt_assert(sim_shrunk_holds(shrunk));
    return sim_token_of(scenario, &shrunk->options, SIM_HOW_STRICT, &shrunk->tape,
            sim_single_outcome(&shrunk->alone));
}

enum sim_store_err
sim_shrunk_store(struct sim_store *store, int64_t run, const struct sim_scenario *scenario,
        const struct sim_shrunk *shrunk, const char *token)
{
    size_t tape_size = 0;
    const uint8_t *tape = sim_single_tape(&shrunk->alone, &tape_size);
    char *options = sim_options_json(scenario, &shrunk->options);
    const struct sim_shrunk_row row = {
            .run = run,
            .token = token,
            .options = options,
            .stopped = sim_shrunk_word(shrunk->end),
            .tape = tape,
            .tape_size = tape_size,
            .digest = sim_single_outcome(&shrunk->alone)->digest,
            .steps = shrunk->to.steps,
            .sim_ns = shrunk->to.sim_ns,
            .deviations = shrunk->to.deviations,
            .preemptions = shrunk->to.preemptions,
            .faults = shrunk->to.faults,
            .actors = shrunk->to.actors,
            .replays = shrunk->replays,
    };
    enum sim_store_err err = sim_store_shrunk(store, &row);
    free(options);
    return err;
}
