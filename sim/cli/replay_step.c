/*
 * replay_step.c -- prints one step, or the run up to a step, or stops there in a debugger.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/terminal.h"
#include "sim/cli/print/run.h"
#include "sim/explain/step/gdb.h"
#include "sim/explain/step/step_view.h"
#include "sim/explain/step/until.h"

static bool
given(const struct sim_cli *cli, enum sim_cli_option option)
{
    return sim_given(&cli->settings, option);
}

int
sim_replay_check_flags(const struct sim_cli *cli)
{
    static const struct sim_cli_pair pairs[] = {
            {SIM_CLI_OPTION_STEP, SIM_CLI_OPTION_UNTIL},
            {SIM_CLI_OPTION_GDB, SIM_CLI_OPTION_UNTIL},
            {SIM_CLI_OPTION_GDB, SIM_CLI_OPTION_HERE},
            {SIM_CLI_OPTION_GDB, SIM_CLI_OPTION_JSON},
            {SIM_CLI_OPTION_HERE, SIM_CLI_OPTION_UNTIL},
            {SIM_CLI_OPTION_UNTIL, SIM_CLI_OPTION_JSON},
            {SIM_CLI_OPTION_UNTIL, SIM_CLI_OPTION_EXPORT},
            {SIM_CLI_OPTION_STEP, SIM_CLI_OPTION_EXPORT},
            {SIM_CLI_OPTION_GDB, SIM_CLI_OPTION_EXPORT},
            {SIM_CLI_OPTION_EACH, SIM_CLI_OPTION_STEP},
            {SIM_CLI_OPTION_EACH, SIM_CLI_OPTION_UNTIL},
            {SIM_CLI_OPTION_EACH, SIM_CLI_OPTION_GDB},
            {SIM_CLI_OPTION_EACH, SIM_CLI_OPTION_HERE},
            {SIM_CLI_OPTION_EACH, SIM_CLI_OPTION_EXPORT},
            {SIM_CLI_OPTION_EACH, SIM_CLI_OPTION_ARTIFACT},
    };
    static const struct sim_cli_pair with_step[] = {{SIM_CLI_OPTION_STEP, SIM_CLI_OPTION_JSON}};
    if (sim_cli_exclude(&cli->settings, pairs, sizeof(pairs) / sizeof(*pairs)) ||
            (!given(cli, SIM_CLI_OPTION_HERE) && sim_cli_exclude(&cli->settings, with_step, 1))) {
        return SIM_EXIT_USAGE;
    }
    if (given(cli, SIM_CLI_OPTION_VERBOSE) && !given(cli, SIM_CLI_OPTION_UNTIL)) {
        return sim_cli_fail(
                SIM_EXIT_USAGE, "--verbose goes with --until N: give --until, or leave it out");
    }
    /* stdin is gdb's, and its program would read it a second time. */
    if (given(cli, SIM_CLI_OPTION_GDB) && strcmp(cli->arguments[0], "-") == 0) {
        return sim_cli_fail(SIM_EXIT_USAGE, "--gdb reads stdin itself: put the token into a "
                                            "file, and give @FILE");
    }
    return 0;
}

bool
sim_replay_has_step(const struct sim_cli *cli)
{
    return given(cli, SIM_CLI_OPTION_GDB) || given(cli, SIM_CLI_OPTION_UNTIL) ||
           (given(cli, SIM_CLI_OPTION_STEP) && !given(cli, SIM_CLI_OPTION_HERE));
}

void
sim_replay_print_core(const struct sim_single *alone)
{
    char core[512];
    char script[SIM_GDB_PATH_MAX];
    pid_t pid = alone->worker.dumped;
    if (pid == 0) {
        return;
    }
    sim_gdb_core(pid, core, sizeof(core));
    (void)printf("\nIts process left a core: %s\n", core);
    if (sim_gdb_script(script)) {
        (void)printf("gdb with the commands for it (`rewake tasks`, …): gdb -x %s PROGRAM CORE\n",
                script);
    }
}

static int
fail_with_no_step(const struct sim_outcome *outcome, uint64_t step)
{
    return sim_cli_fail(SIM_EXIT_USAGE, "there is no step %llu: the run has %llu steps",
            (unsigned long long)step, (unsigned long long)outcome->steps);
}

/* The process ended in the step, and left no snapshot. */
static void
put_up_to(struct sim_page *page, const struct sim_recorder *recorder, uint64_t step)
{
    sim_page_put(page,
            "The step ends its process, so its alternatives and the state of the actors are "
            "unknown;\n--gdb stops there. The run up to this step:\n\n");
    sim_until_print(page, recorder, step, false);
}

static void
put_step(struct sim_page *page, const struct sim_single *alone, const struct sim_step_view *view)
{
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    const struct sim_recorder *recorder = sim_single_recorder(alone);
    if (view->taken) {
        sim_step_view_print(page, view, recorder, outcome->steps);
    } else {
        put_up_to(page, recorder, view->step);
    }
}

static void
put_until(struct sim_cli *cli, struct sim_page *page, const struct sim_single *alone,
        const struct sim_step_view *view)
{
    const struct sim_recorder *recorder = sim_single_recorder(alone);
    sim_until_print(page, recorder, cli->settings.until, given(cli, SIM_CLI_OPTION_VERBOSE));
    if (view->reached) {
        sim_page_printf(page, "\nstate of each actor after step %llu, at ",
                (unsigned long long)cli->settings.until);
        sim_page_time(page, view->now_ns);
        sim_page_put(page, ":\n");
        sim_step_view_print_actors(page, view, recorder);
    }
}

static void
print(struct sim_cli *cli, const struct sim_subject *subject, const struct sim_single *alone,
        const struct sim_step_view *view)
{
    struct sim_page page;
    const char *name = subject->text != NULL ? subject->text : cli->arguments[0];
    char *replay = sim_command_text(cli, "replay", subject->entry, name);
    sim_page_init(&page, sim_terminal_colour());
    page.width = sim_columns();
    bool step = given(cli, SIM_CLI_OPTION_STEP);
    if (step) {
        put_step(&page, alone, view);
    } else {
        put_until(cli, &page, alone, view);
    }
    (void)fputs(sim_page_text(&page), stdout);
    if (strcmp(cli->arguments[0], "-") != 0) {
        (void)printf("\nin gdb: %s --gdb --step %llu\n", replay,
                (unsigned long long)(step ? cli->settings.step : cli->settings.until));
    }
    sim_page_fini(&page);
    free(replay);
}

/* Of a lenient replay another run is expected. */
static int
check_same(
        struct sim_cli *cli, const struct sim_subject *subject, const struct sim_outcome *outcome)
{
    return given(cli, SIM_CLI_OPTION_LENIENT) ? 0 : sim_subject_check_same(subject, outcome);
}

static int
print_checked(struct sim_cli *cli, const struct sim_subject *subject,
        const struct sim_single *alone, const struct sim_step_view *view)
{
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    uint64_t wanted = given(cli, SIM_CLI_OPTION_STEP) ? cli->settings.step : cli->settings.until;
    if (wanted > outcome->steps) {
        return fail_with_no_step(outcome, wanted);
    }
    int status = check_same(cli, subject, outcome);
    print(cli, subject, alone, view);
    return status;
}

static int
print_step_of(struct sim_cli *cli, const struct sim_subject *subject)
{
    bool step = given(cli, SIM_CLI_OPTION_STEP);
    struct sim_step_view *view =
            sim_step_view_new(step ? cli->settings.step : cli->settings.until + 1);
    struct sim_single alone = {.runs = 0};
    view->before_only = !step;
    struct sim_run_spec spec = sim_subject_spec(cli, subject);
    spec.analyze = sim_step_view_run;
    spec.analysis = view;
    int status = sim_subject_run(&spec, &alone);
    if (status == 0) {
        status = print_checked(cli, subject, &alone, view);
    }
    sim_single_fini(&alone);
    sim_step_view_free(&view);
    return status;
}

/* ---- gdb. ------------------------------------------------------------------------------------ */

/* The step that should have woken a task, else the one in which the run failed. */
static uint64_t
step_that_matters(const struct sim_outcome *outcome)
{
    uint64_t step =
            outcome->missing_wake_step != 0 ? outcome->missing_wake_step : outcome->fail_step;
    step = step < outcome->steps ? step : outcome->steps;
    return step > 0 ? step : 1;
}

/* Makes the run in a worker, where a hang or a crash does no harm, to find the step. */
static int
find_step(struct sim_cli *cli, const struct sim_subject *subject, uint64_t *ret_step)
{
    struct sim_single alone = {.runs = 0};
    struct sim_run_spec spec = sim_subject_spec(cli, subject);
    spec.explain = true;
    int status = sim_subject_run(&spec, &alone);
    if (status == 0) {
        const struct sim_outcome *outcome = sim_single_outcome(&alone);
        (void)check_same(cli, subject, outcome);
        *ret_step = cli->settings.step;
        if (!given(cli, SIM_CLI_OPTION_STEP)) {
            *ret_step = step_that_matters(outcome);
        } else if (*ret_step > outcome->steps) {
            status = fail_with_no_step(outcome, *ret_step);
        }
    }
    sim_single_fini(&alone);
    return status;
}

static int
become_gdb(struct sim_cli *cli, const struct sim_subject *subject)
{
    char error[SIM_GDB_ERROR_MAX] = "";
    uint64_t step = 0;
    int status = find_step(cli, subject, &step);
    if (status != 0) {
        return status;
    }
    const struct sim_gdb_replay replay = {
            .library = cli->library,
            .subject = cli->arguments[0],
            .db = cli->settings.db,
            .lenient = given(cli, SIM_CLI_OPTION_LENIENT),
            .step = step,
    };
    sim_gdb_exec(&replay, error);
    return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", error);
}

int
sim_replay_step(struct sim_cli *cli, const struct sim_subject *subject)
{
    return given(cli, SIM_CLI_OPTION_GDB) ? become_gdb(cli, subject) : print_step_of(cli, subject);
}
