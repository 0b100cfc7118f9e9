/*
 * run.c -- tokens, commands to paste, and a run that failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/print/run.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/base/command.h"
#include "sim/base/terminal.h"
#include "sim/engine/token.h"
#include "sim/explain/view/columns.h"
#include "sim/explain/view/describe.h"
#include "sim/program/program.h"

char *
sim_token_of(const struct sim_scenario *scenario, const struct sim_options *options, uint32_t how,
        const struct sim_tape *tape, const struct sim_outcome *outcome)
{
    struct sim_token token = {
            .seed = outcome->seed,
            .digest = (uint32_t)outcome->digest,
            .verdict = outcome->verdict,
            .oracle = outcome->oracle,
            .site = outcome->site,
            .taped = how != SIM_HOW_RANDOM,
    };
    /* The baseline run is the empty tape. */
    if (how == SIM_HOW_STRICT || how == SIM_HOW_LENIENT) {
        rt_assert(tape != NULL);
        token.tape = *tape;
    }
    (void)snprintf(token.scenario, sizeof(token.scenario), "%s", scenario->name);
    sim_token_set_options(&token, scenario, options);
    if (sim_program_is(scenario)) {
        token.program = true;
        token.arguments = (char **)(uintptr_t)sim_program_input()->arguments;
        token.argument_count = sim_program_input()->argument_count;
        token.environment = sim_program_environment();
        token.peers = (char **)(uintptr_t)sim_program_input()->peers;
        token.peer_count = sim_program_input()->peer_count;
    }
    return sim_token_text(&token);
}

void
sim_print_if_long(const char *subject)
{
    if (sim_command_is_long(subject)) {
        sim_print_folded(
                "The token is too long for an argument (128 KiB). echo is part of the shell "
                "and takes more; or write the token to FILE, and give @FILE.",
                0, 0);
    }
}

char *
sim_command_text(const struct sim_cli *cli, const char *command, const struct sim_entry *entry,
        const char *subject)
{
    bool recorded = cli->settings.record != SIM_RECORD_NONE;
    return sim_command_of(command, entry->library, subject, recorded ? cli->settings.db : NULL);
}

void
sim_print_command(const struct sim_cli *cli, const char *label, const char *command,
        const struct sim_entry *entry, const char *subject)
{
    char *text = sim_command_text(cli, command, entry, subject);
    (void)printf("%s%s\n", label, text);
    free(text);
}

void
sim_print_replay(const struct sim_cli *cli, const struct sim_entry *entry,
        const struct sim_outcome *outcome, const char *token, bool replay)
{
    char *command = sim_command_text(cli, "replay", entry, token);
    if (replay) {
        (void)printf("replay: %s\n", command);
    }
    if (outcome->stack.count > 0) {
        char *debug = sim_command_debug(command, token);
        (void)printf("debug:  %s\n", debug);
        free(debug);
    }
    free(command);
    sim_print_if_long(token);
}

void
sim_print_run(const struct sim_single *alone, const struct sim_outcome *outcome)
{
    struct sim_page page;
    const struct sim_run_view view = {
            .recorder = sim_single_recorder(alone),
            .outcome = outcome,
            .rows_max = SIM_ROWS_DEFAULT,
    };
    sim_page_init(&page, sim_terminal_colour());
    page.width = sim_columns();
    sim_describe_run(&page, &view, SIM_DESCRIBE_FAILURE);
    (void)printf("%s\n", sim_page_text(&page));
    sim_page_fini(&page);
}
