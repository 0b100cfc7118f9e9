/*
 * shrunk.c -- how far a run was minimized, as a sentence, a table, and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/shrunk.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/cli/print/words.h"

static unsigned long long
wide(uint64_t number)
{
    return (unsigned long long)number;
}

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
    char *text = NULL;
    int made = 0;
    if (!sim_shrunk_holds(shrunk)) {
        made = asprintf(&text, "Not minimized: %s.",
                shrunk->end == SIM_SHRINK_SYSTEM ? shrunk->error
                                                 : sim_shrink_end_text(shrunk->end));
    } else {
        bool smaller = sim_shrink_key_compare(&shrunk->to, &shrunk->from) != 0;
        char was[24] = "";
        (void)snprintf(was, sizeof(was), "was %u; ", shrunk->from.deviations);
        made = asprintf(&text,
                "%s: %u scheduling choice%s from the default schedule (%s%u replay%s%s%s).",
                smaller ? "Minimized" : "Already minimal", shrunk->to.deviations,
                shrunk->to.deviations == 1 ? " differs" : "s differ", smaller ? was : "",
                shrunk->replays, shrunk->replays == 1 ? "" : "s", *limit != '\0' ? "; " : "",
                limit);
    }
    rt_assert(made > 0);
    return text;
}

static void
print_row(const char *name, uint64_t from, uint64_t to, const char *about)
{
    (void)printf("%-12s %12llu %12llu  %s\n", name, wide(from), wide(to), about);
}

void
sim_shrunk_print(const struct sim_shrunk *shrunk)
{
    const struct sim_shrink_key *from = &shrunk->from;
    const struct sim_shrink_key *to = &shrunk->to;
    (void)printf("%-12s %12s %12s\n", "", "from", "to");
    print_row("options", from->options, to->options, "that are not the defaults");
    print_row("faults", from->faults, to->faults, "injected");
    print_row("actors", from->actors, to->actors, "that take steps");
    print_row("preemptions", from->preemptions, to->preemptions,
            "a step out of the run queue's order");
    print_row("deviations", from->deviations, to->deviations, "from the baseline run, in all");
    print_row("blocks", from->blocks, to->blocks, "of steps by one actor");
    print_row("time", from->sim_ns, to->sim_ns, "virtual, ns");
    print_row("steps", from->steps, to->steps, "of the run");
}

void
sim_shrunk_json_key(struct sim_json *json, const char *name, const struct sim_shrink_key *key)
{
    SIM_JSON_PUT(json,
            SIM_FIELDS(name, SIM_NUMBER("options", key->options), SIM_NUMBER("faults", key->faults),
                    SIM_NUMBER("actors", key->actors), SIM_NUMBER("preemptions", key->preemptions),
                    SIM_NUMBER("deviations", key->deviations), SIM_NUMBER("blocks", key->blocks),
                    SIM_NUMBER("sim_ns", key->sim_ns), SIM_NUMBER("steps", key->steps)));
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
