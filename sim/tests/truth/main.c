/*
 * main.c -- truth: generated programs against the reference model, many of them.
 *
 *      truth [-f FROM] [-n PROGRAMS] [-r RUNS] [-w WALK]     checks; minimises what differs
 *      truth -t NUMBER            the program as text, and the verdicts that it can end in
 *      truth -p NUMBER            the program as a scenario in C
 *      truth -s NUMBER [-r RUNS]  a line for each run from seed 1: seed, verdict, steps, time
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/tests/truth/check.h"
#include "sim/tests/truth/print.h"

/* Differences of one kind that are minimised and printed. */
#define SHOWN_MAX 5u

struct asked {
    uint64_t from;
    uint64_t programs;
    struct truth_plan plan;
    char what;
};

static void
usage(void)
{
    (void)fprintf(stderr,
            "usage: truth [-f FROM] [-n PROGRAMS] [-r RUNS] [-w WALK] | -t NUMBER | -p NUMBER |\n"
            "       -s NUMBER [-r RUNS]\n");
    exit(2);
}

static uint64_t
number(const char *text)
{
    char *end = NULL;
    unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end != 0) {
        usage();
    }
    return value;
}

static struct asked
read_arguments(int argc, char **argv)
{
    struct asked asked = {1, 2000, {6, 0}, 'n'};
    int option;
    while ((option = getopt(argc, argv, "f:n:r:w:t:p:s:")) != -1) {
        switch (option) {
        case 'f':
            asked.from = number(optarg);
            break;
        case 'n':
            asked.programs = number(optarg);
            break;
        case 'r':
            asked.plan.runs = (uint32_t)number(optarg);
            break;
        case 'w':
            asked.plan.walk_max = (uint32_t)number(optarg);
            break;
        case 't':
        case 'p':
        case 's':
            asked.from = number(optarg);
            asked.what = (char)option;
            break;
        default:
            usage();
        }
    }
    return asked;
}

static void
print_text(const struct truth_program *program)
{
    char text[4096];
    truth_program_text(program, text, sizeof(text));
    (void)fputs(text, stdout);
}

static void
print_options(const struct truth_run *run)
{
    struct sim_options defaults;
    sim_options_init(&defaults, NULL);
    (void)printf("  seed %llu%s", (unsigned long long)run->seed,
            run->strategy != NULL ? " (a run of the walk)" : "");
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        if (sim_option_get(&run->options, i) != sim_option_get(&defaults, i)) {
            (void)printf(" -O %s=%llu", sim_option_name(i),
                    (unsigned long long)sim_option_get(&run->options, i));
        }
    }
    (void)printf("\n");
}

static void
show_difference(struct lab *lab, const struct truth_program *program, const struct truth_plan *plan,
        const struct truth_run *run)
{
    struct truth_program smallest = *program;
    struct truth_counts counts = {0};
    struct truth_run again;
    (void)printf("%s: %s\n", truth_kind_about(run->kind), run->why);
    print_text(program);
    print_options(run);
    truth_shrink(lab, &smallest, plan, run->kind);
    truth_check(lab, &smallest, plan, &counts, &again);
    (void)printf("minimised: %s\n", again.why);
    print_text(&smallest);
    print_options(&again);
    truth_print(&smallest, stdout);
    (void)fflush(stdout);
}

static void
print_counts(const struct truth_counts *counts)
{
    (void)printf("%llu programs, %llu runs:", (unsigned long long)counts->programs,
            (unsigned long long)counts->runs);
    for (uint32_t i = 0; i < SIM_VERDICTS; i++) {
        if (counts->verdicts[i] > 0) {
            (void)printf(" %llu %s", (unsigned long long)counts->verdicts[i], sim_verdict_name(i));
        }
    }
    (void)printf("\n%llu runs have more than one verdict in the model; %llu programs have too many "
                 "states; of %llu all runs were made; in %llu a verdict was not found\n",
            (unsigned long long)counts->open, (unsigned long long)counts->incomplete,
            (unsigned long long)counts->walked, (unsigned long long)counts->unfound);
    for (uint32_t i = 0; i < TRUTH_KINDS; i++) {
        if (counts->kinds[i] > 0) {
            (void)printf("%8llu programs: %s\n", (unsigned long long)counts->kinds[i],
                    truth_kind_about(i));
        }
    }
}

static int
check(const struct asked *asked)
{
    static struct lab lab;
    struct truth_counts counts = {0};
    lab_init(&lab, NULL, 0x5a);
    for (uint64_t i = 0; i < asked->programs; i++) {
        struct truth_program program;
        struct truth_run run;
        truth_program_make(&program, asked->from + i);
        truth_check(&lab, &program, &asked->plan, &counts, &run);
        if (run.kind != TRUTH_KIND_AGREED && counts.kinds[run.kind] <= SHOWN_MAX) {
            show_difference(&lab, &program, &asked->plan, &run);
        }
    }
    print_counts(&counts);
    lab_fini(&lab);
    return counts.kinds[TRUTH_KIND_AGREED] == counts.programs ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int
describe(uint64_t which)
{
    struct truth_program program;
    struct truth_reach reach;
    truth_program_make(&program, which);
    truth_explore(&program, &reach);
    print_text(&program);
    (void)printf("  %u states%s; it can end in:", reach.states, reach.complete ? "" : ", and more");
    for (uint32_t i = 0; i < SIM_VERDICTS; i++) {
        if ((reach.possible >> i & 1u) != 0) {
            (void)printf(" %s%s", sim_verdict_name(i), (reach.sure >> i & 1u) != 0 ? "" : "?");
        }
    }
    (void)printf("\n");
    return EXIT_SUCCESS;
}

/* As `rewake run --strategy random -O audit_one_in=1` of the printed scenario. */
static int
list_runs(uint64_t which, uint32_t runs)
{
    static struct lab lab;
    struct truth_program program;
    lab_init(&lab, NULL, 0x5a);
    truth_program_make(&program, which);
    for (uint32_t i = 0; i < runs; i++) {
        struct truth_run run = {.seed = i + 1};
        sim_options_init(&run.options, NULL);
        run.options.audit_one_in = 1;
        truth_run_play(&lab, &program, &run);
        (void)printf("%llu|%u|%llu|%llu\n", (unsigned long long)run.seed, run.outcome.verdict,
                (unsigned long long)run.outcome.steps, (unsigned long long)run.outcome.sim_ns);
    }
    lab_fini(&lab);
    return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
    struct asked asked = read_arguments(argc, argv);
    struct truth_program program;
    switch (asked.what) {
    case 't':
        return describe(asked.from);
    case 'p':
        truth_program_make(&program, asked.from);
        truth_print(&program, stdout);
        return EXIT_SUCCESS;
    case 's':
        return list_runs(asked.from, asked.plan.runs);
    default:
        return check(&asked);
    }
}
