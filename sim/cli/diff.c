/*
 * diff.c -- `rewake diff`: the first difference of two runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/diff.h"

#include <stdio.h>

#include "sim/base/json.h"
#include "sim/base/terminal.h"
#include "sim/cli/cli.h"
#include "sim/cli/subject/subject.h"

/* One of the two. */
struct side {
    const struct sim_subject *subject;
    struct sim_single *alone;
    struct sim_page then; /* What it does at the first difference; nothing of equal runs. */
};

static int
exit_status(const struct sim_difference *difference)
{
    return difference->kind == SIM_DIFF_SAME ? SIM_EXIT_HELD : SIM_EXIT_DIFFERS;
}

static void
put_then(struct side *side, const struct sim_difference *difference)
{
    bool parts = difference->kind == SIM_DIFF_EVENT || difference->kind == SIM_DIFF_ENDS;
    sim_page_init(&side->then, false);
    if (parts) {
        sim_diff_put_event(&side->then, sim_single_recorder(side->alone), difference->event);
    }
}

/* The fields of a side. */
#define SIDE(key, side, parts) \
    SIM_FIELDS(key, SIM_TEXT("scenario", (side)->subject->entry->scenario->name), \
            SIM_LONG("seed", (side)->subject->seed), \
            SIM_TEXT("verdict", sim_verdict_name(sim_single_outcome((side)->alone)->verdict)), \
            SIM_HEX("digest", sim_single_outcome((side)->alone)->digest), \
            SIM_NUMBER("events", sim_single_recorder((side)->alone)->count), \
            SIM_TEXT("then", parts ? sim_page_text(&(side)->then) : NULL))

static void
print_json(struct side *a, struct side *b, const struct sim_difference *difference)
{
    static const char *const results[] = {"same", "event", "ends", "lost"};
    bool lost = difference->kind == SIM_DIFF_LOST;
    bool parts = difference->kind == SIM_DIFF_EVENT || difference->kind == SIM_DIFF_ENDS;
    put_then(a, difference);
    put_then(b, difference);
    SIM_JSON_LINE("diff", SIM_TEXT("result", results[difference->kind]),
            SIM_NUMBER("events_in_common", lost ? difference->from : difference->event),
            SIDE("a", a, parts), SIDE("b", b, parts),
            SIM_NUMBER("exit", (uint64_t)exit_status(difference)));
    sim_page_fini(&a->then);
    sim_page_fini(&b->then);
}

static void
print_words(const struct side *a, const struct side *b)
{
    struct sim_page page;
    sim_page_init(&page, sim_terminal_colour());
    page.width = sim_columns();
    sim_diff_put(&page, sim_single_recorder(a->alone), "A", sim_single_recorder(b->alone), "B");
    (void)fputs(sim_page_text(&page), stdout);
    sim_page_fini(&page);
}

static int
compare(struct sim_cli *cli, const struct sim_subject *subject, struct sim_single *alone,
        void *argument)
{
    struct side *a = argument;
    struct side b = {.subject = subject, .alone = alone};
    struct sim_difference difference;
    sim_diff_find(sim_single_recorder(a->alone), sim_single_recorder(alone), &difference);
    bool json = sim_given(&cli->settings, SIM_CLI_OPTION_JSON);
    if (json) {
        print_json(a, &b, &difference);
    } else {
        print_words(a, &b);
    }
    return exit_status(&difference);
}

static int
make_other(struct sim_cli *cli, const struct sim_subject *subject, struct sim_single *alone,
        void *argument)
{
    struct side a = {.subject = subject, .alone = alone};
    (void)argument;
    return sim_subject_make(cli, cli->arguments[1], false, compare, &a);
}

static int
diff(struct sim_cli *cli)
{
    return sim_subject_make(cli, cli->arguments[0], false, make_other, NULL);
}

SIM_COMMAND(command, .name = "diff", .purpose = SIM_PURPOSE_UNDERSTAND,
        .usage = "[LIB.so] A B [options]", .about = "the first event in which two runs differ",
        .help = "A and B are tokens or run:ID.\n" SIM_SUBJECT_HELP
                "Exit status: 0 they are the same, 3 they differ.\n",
        .missing =
                "which two runs? Give two of run:ID or a token. Example: rewake diff run:2 run:3 "
                "(--help has all options)",
        .options = SIM_OPT(DB) | SIM_OPT(HANG) | SIM_OPT(JSON),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_RUNS, .arguments_min = 2, .arguments_max = 2,
        .run = diff);
