/*
 * merge.c -- `rewake merge`: joins the parts of a sweep.
 *
 * All inputs are checked before the output is opened, and all are merged in one transaction: after
 * an error the output is unchanged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/heap.h"
#include "sim/base/json.h"
#include "sim/cli/subject/subject.h"
#include "sim/store/shard.h"

struct inputs {
    struct sim_store **stores; /* NULL: it is the output. */
    uint32_t count;
};

static bool
is_same_file(const char *a, const char *b)
{
    struct stat of_a;
    struct stat of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

static int
open_input(const char *path, struct sim_store **ret_store)
{
    char message[SIM_STORE_MESSAGE_MAX];
    if (sim_store_open_read(path, 0, message, sizeof(message), ret_store) != SIM_STORE_OK) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", message);
    }
    return sim_cli_stored(*ret_store, sim_store_check_pages(*ret_store));
}

static int
open_inputs(const struct sim_cli *cli, struct inputs *inputs)
{
    const char *out = cli->arguments[0];
    int status = 0;
    for (uint32_t i = 1; i < cli->count && status == 0; i++) {
        if (is_same_file(out, cli->arguments[i])) {
            sim_cli_warn("%s is the output too, and adds nothing", cli->arguments[i]);
        } else {
            status = open_input(cli->arguments[i], &inputs->stores[inputs->count++]);
        }
    }
    return status;
}

static void
close_inputs(struct inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->count; i++) {
        sim_store_close(&inputs->stores[i]);
    }
    free(inputs->stores);
}

static int
merge_inputs(struct sim_store *out, const struct inputs *inputs, struct sim_merge *merge)
{
    enum sim_store_err err = sim_store_batch_begin(out);
    if (err == SIM_STORE_OK) {
        for (uint32_t i = 0; i < inputs->count; i++) {
            (void)sim_store_merge(out, inputs->stores[i], merge);
        }
        err = sim_store_batch_commit(out);
    }
    return sim_cli_stored(out, err);
}

static bool
print_line(const char *text, size_t length, void *argument)
{
    (void)argument;
    return fwrite(text, 1, length, stdout) == length && fputc('\n', stdout) != EOF;
}

static bool
count_line(const char *text, size_t length, void *argument)
{
    (void)text;
    (void)length;
    ++*(uint32_t *)argument;
    return true;
}

static int
print(struct sim_store *out, const char *sql)
{
    return sim_cli_stored(out, sim_store_query(out, sql, SIM_STORE_TABLE, print_line, NULL));
}

static const char *
plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static int
print_counts(
        const struct sim_cli *cli, struct sim_store *out, const struct sim_merge_counts *counts)
{
    if (sim_given(&cli->settings, SIM_CLI_OPTION_JSON)) {
        SIM_JSON_LINE("merge", SIM_TEXT("db", cli->arguments[0]),
                SIM_NUMBER("parts", counts->parts), SIM_NUMBER("sweeps", counts->sweeps),
                SIM_NUMBER("known", counts->known));
        return 0;
    }
    (void)printf("%s: %u part%s added, %u whole sweep%s copied; %u %s already there\n",
            cli->arguments[0], counts->parts, plural(counts->parts), counts->sweeps,
            plural(counts->sweeps), counts->known, counts->known == 1 ? "was" : "were");
    return counts->parts + counts->known > 0
                   ? print(out, "SELECT scenario, parts, runs, digest FROM shards_in"
                                " ORDER BY sweep")
                   : 0;
}

/* --goals, as of `rewake run`, over the newest sweep of each scenario. */
#define NEWEST \
    " sweep IN (SELECT max(s.sweep) FROM sweeps AS s JOIN shards USING (sweep) GROUP BY " \
    "s.scenario)"
#define MISSED " FROM goals_missed WHERE what <> 'always' AND" NEWEST
#define MISSING \
    " FROM (SELECT sweep FROM shards WHERE" NEWEST " GROUP BY sweep HAVING count(*) < " \
    "max(shards))"

/* How many rows there are. 0, or the exit status after a line. */
static int
count(struct sim_store *out, const char *sql, uint32_t *ret_count)
{
    return sim_cli_stored(out, sim_store_query(out, sql, SIM_STORE_JSON, count_line, ret_count));
}

static int
print_goals(struct sim_store *out)
{
    uint32_t missed = 0;
    uint32_t missing = 0;
    int status = count(out, "SELECT 1" MISSED, &missed);
    status = status == 0 ? count(out, "SELECT 1" MISSING, &missing) : status;
    if (status != 0) {
        return status;
    }
    if (missing > 0) {
        return sim_cli_fail(SIM_EXIT_SHORT,
                "--goals: parts of %u sweep%s are missing, and may reach a goal: merge them too",
                missing, plural(missing));
    }
    if (missed == 0) {
        return 0;
    }
    (void)printf("goals that no run reached:\n");
    status = print(out, "SELECT scenario, text, place" MISSED " ORDER BY scenario, place");
    return status == 0 ? SIM_EXIT_BUG : status;
}

static int
merge_into(const struct sim_cli *cli, const struct inputs *inputs)
{
    char message[SIM_STORE_MESSAGE_MAX];
    const char *path = cli->arguments[0];
    bool is_new = access(path, F_OK) != 0;
    struct sim_store *out = NULL;
    struct sim_merge merge = {.apart = sim_given(&cli->settings, SIM_CLI_OPTION_APART)};
    enum sim_store_err err =
            sim_store_open(path, SIM_STORE_WRITE, 0, message, sizeof(message), &out);
    if (err != SIM_STORE_OK) {
        if (is_new && err == SIM_STORE_FULL) {
            (void)unlink(path); /* Incomplete. */
        }
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", message);
    }
    int status = merge_inputs(out, inputs, &merge);
    bool merged = status == 0;
    if (merged) {
        status = print_counts(cli, out, &merge.counts);
    }
    if (status == 0 && sim_given(&cli->settings, SIM_CLI_OPTION_GOALS)) {
        status = print_goals(out);
    }
    sim_store_close(&out);
    if (!merged && is_new) {
        (void)unlink(path);
    }
    return status;
}

static int
merge_command(struct sim_cli *cli)
{
    struct inputs inputs = {.stores = sim_heap_new(cli->count, sizeof(struct sim_store *))};
    int status = open_inputs(cli, &inputs);
    if (status == 0) {
        status = merge_into(cli, &inputs);
    }
    close_inputs(&inputs);
    return status;
}

SIM_COMMAND(command, .name = "merge", .purpose = SIM_PURPOSE_SHARE,
        .usage = "OUT.db IN.db... [options]", .about = "join the parts of a sweep (run --shard)",
        .help = "OUT.db is created, or extended; what it already has is not added again. "
                "Parts of different sweeps (build, options, strategy, first seed ...) are "
                "refused; with --apart they stay separate sweeps, as those do that were no "
                "parts.\n",
        .missing = "which databases? Give the output, then the parts. Example: rewake merge all.db "
                   "1.db 2.db",
        .options = SIM_OPT(GOALS) | SIM_OPT(APART) | SIM_OPT(JSON), .takes = SIM_TAKES_FILES,
        .arguments_min = 2, .arguments_max = UINT32_MAX, .run = merge_command);
