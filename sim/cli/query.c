/*
 * query.c -- `rewake query`: one SQL statement over the trace database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "sim/cli/cli.h"
#include "sim/cli/subject.h"

static bool
print_line(const char *text, size_t length, void *argument)
{
    (void)argument;
    return fwrite(text, 1, length, stdout) == length && fputc('\n', stdout) != EOF;
}

static int
query(struct sim_cli *cli)
{
    char message[SIM_STORE_MESSAGE_MAX];
    struct sim_store *store = NULL;
    enum sim_store_form form =
            sim_given(&cli->settings, SIM_CLI_OPTION_JSON) ? SIM_STORE_JSON : SIM_STORE_TABLE;
    enum sim_store_err err =
            sim_store_open(sim_cli_db(cli), SIM_STORE_READ, 0, message, sizeof(message), &store);
    if (err != SIM_STORE_OK) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", message);
    }
    err = sim_store_query(store, cli->arguments[0], form, print_line, NULL);
    int status = SIM_EXIT_HELD;
    if (err != SIM_STORE_OK) {
        status = sim_cli_fail(err == SIM_STORE_QUERY ? SIM_EXIT_USAGE : SIM_EXIT_SYSTEM, "%s",
                sim_store_message(store));
    }
    sim_store_close(&store);
    return status;
}

SIM_COMMAND(command, .name = "query", .usage = "'SELECT ...' [--json] [--db FILE]",
        .about = "ask the trace database",
        .help = "Views to begin with: failures, lost_wakeups, wake_ledger, wake_edges, trace,\n"
                "poll_latency, sweep_summary, covered, first_to_cover, added, covering_runs,\n"
                "saturation, goals_missed. Stock `sqlite3` reads the same file.\n",
        .options = SIM_CLI_OPTION_BIT(JSON) | SIM_CLI_OPTION_BIT(DB) | SIM_CLI_OPTION_BIT(HELP),
        .arguments_min = 1, .arguments_max = 1, .run = query);
