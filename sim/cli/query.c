/*
 * query.c -- `rewake query`: a named query, or one SQL statement.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/query/query.h"
#include "runtime/base/assert.h"
#include "sim/base/nearest.h"
#include "sim/base/terminal.h"
#include "sim/cli/cli.h"
#include "sim/cli/subject/subject.h"

/* A table has a heading and a rule before its first row. */
#define LINES_BEFORE_ROWS 2u

struct printing {
    uint64_t lines;
    bool cut;  /* Of a named query: no line is wider than a terminal. */
    bool wide; /* One column, such as a command to paste: never cut. */
};

/* Bytes of the first `columns` characters. */
static size_t
bytes_of(const char *text, size_t length, size_t columns)
{
    size_t at = 0;
    for (; at < length; at++) {
        if (((unsigned char)text[at] & 0xc0) != 0x80 && columns-- == 0) {
            break;
        }
    }
    return at;
}

static bool
print_line(const char *text, size_t length, void *argument)
{
    struct printing *printing = argument;
    printing->lines++;
    if (printing->lines == LINES_BEFORE_ROWS) {
        printing->wide = memchr(text, ' ', length) == NULL;
    }
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    size_t columns = sim_columns();
    bool cut = printing->cut && !printing->wide && bytes_of(text, length, columns) < length;
    size_t shown = cut ? bytes_of(text, length, columns - 3) : length;
    return fwrite(text, 1, shown, stdout) == shown && fputs(cut ? "...\n" : "\n", stdout) != EOF;
}

static void
list_query(const struct report_query *query)
{
    struct report_query_head head;
    char left[80];
    char question[512];
    bool good = report_query_read(query, &head);
    rt_assert(good); /* query.t runs each. */
    int used = snprintf(left, sizeof(left), "%s", query->name);
    for (uint32_t i = 0; i < head.param_count; i++) {
        used += snprintf(left + used, sizeof(left) - (size_t)used, " [%s]", head.params[i] + 1);
    }
    (void)snprintf(question, sizeof(question), "%.*s", (int)head.question_length, head.question);
    (void)printf("%-24s ", left);
    sim_print_folded(question, (size_t)(used > 24 ? used : 24) + 1, 25);
}

static int
list_queries(void)
{
    for (const struct report_query *each = report_query_next(""); each != NULL;
            each = report_query_next(each->name)) {
        list_query(each);
    }
    (void)putchar('\n');
    sim_print_folded("rewake query NAME [ARGUMENT...] runs one of them, rewake query 'SELECT ...' "
                     "any statement.",
            0, 0);
    return SIM_EXIT_HELD;
}

/* ---- Running one. ---------------------------------------------------------------------------- */

/* "run:12" becomes 12, its number in the database. */
static const char *
value_of(const char *argument)
{
    bool run = strncmp(argument, "run:", 4) == 0 && argument[4] != '\0' &&
               strspn(argument + 4, "0123456789") == strlen(argument + 4);
    return run ? argument + 4 : argument;
}

/* Prints the rows; the exit status. */
static int
answer(struct sim_cli *cli, struct sim_store *store, const char *sql,
        const struct sim_store_value *values, uint32_t count)
{
    bool json = sim_given(&cli->settings, SIM_CLI_OPTION_JSON);
    struct printing printing = {.cut = values != NULL && !json};
    enum sim_store_err err = sim_store_query_with(store, sql, values, count,
            json ? SIM_STORE_JSON : SIM_STORE_TABLE, print_line, &printing);
    if (err == SIM_STORE_OK && values != NULL && !json && printing.lines <= LINES_BEFORE_ROWS) {
        (void)printf("(none)\n");
    }
    return sim_cli_stored(store, err);
}

/* The arguments, and the defaults of the others; strings from malloc. */
static enum sim_store_err
take_values(const struct sim_cli *cli, struct sim_store *store,
        const struct report_query_head *head, char *texts[REPORT_PARAMS_MAX])
{
    enum sim_store_err err = SIM_STORE_OK;
    for (uint32_t i = 0; i < head->param_count && err == SIM_STORE_OK; i++) {
        if (i + 1 < cli->count) {
            texts[i] = strdup(value_of(cli->arguments[i + 1]));
            rt_assert(texts[i] != NULL);
        } else {
            err = report_query_otherwise(store, head, i, &texts[i]);
        }
    }
    return err;
}

/* Without the table that a query needs its result is empty, which is no error. */
static int
answer_none(struct sim_cli *cli, const struct report_query_head *head)
{
    if (!sim_given(&cli->settings, SIM_CLI_OPTION_JSON)) {
        (void)printf("(none)\n\nIt needs %.*s.\n", (int)strcspn(head->needs, "\n"), head->needs);
    }
    return SIM_EXIT_HELD;
}

static int
answer_kept(struct sim_cli *cli, struct sim_store *store, const struct report_query *query,
        const struct report_query_head *head)
{
    struct sim_store_value values[REPORT_PARAMS_MAX];
    char *texts[REPORT_PARAMS_MAX] = {NULL};
    bool has = true;
    enum sim_store_err err = report_query_has(store, head, &has);
    if (!has && err == SIM_STORE_OK) {
        return answer_none(cli, head);
    }
    err = err != SIM_STORE_OK ? err : take_values(cli, store, head, texts);
    for (uint32_t i = 0; i < head->param_count; i++) {
        values[i] = (struct sim_store_value){.name = head->params[i], .text = texts[i]};
    }
    int status = err == SIM_STORE_OK ? answer(cli, store, query->sql, values, head->param_count)
                                     : sim_cli_stored(store, err);
    for (uint32_t i = 0; i < head->param_count; i++) {
        free(texts[i]);
    }
    return status;
}

static int
refuse_arguments(const struct report_query *query, const struct report_query_head *head)
{
    if (head->param_count == 0) {
        return sim_cli_fail(SIM_EXIT_USAGE, "too many arguments: %s takes none", query->name);
    }
    return sim_cli_fail(SIM_EXIT_USAGE, "too many arguments: %s takes at most %u; %s is %.*s",
            query->name, head->param_count, head->params[0] + 1, (int)strcspn(head->about[0], "\n"),
            head->about[0]);
}

/* `query` NULL: the first argument is a statement. */
static int
ask(struct sim_cli *cli, const struct report_query *query)
{
    struct sim_store *store = NULL;
    struct report_query_head head = {.param_count = 0};
    if (query != NULL) {
        bool good = report_query_read(query, &head);
        rt_assert(good);
        if (cli->count - 1 > head.param_count) {
            return refuse_arguments(query, &head);
        }
    }
    int status = sim_cli_open_read(cli, &store);
    if (status == 0) {
        status = query != NULL ? answer_kept(cli, store, query, &head)
                               : answer(cli, store, cli->arguments[0], NULL, 0);
    }
    sim_store_close(&store);
    return status;
}

/* A statement has blanks; a single word is a misspelt name. */
static bool
is_word(const char *text)
{
    return *text != '\0' && strpbrk(text, " \t\n;") == NULL;
}

static int
refuse_name(const char *name)
{
    struct sim_nearest nearest = {.word = name};
    char hint[SIM_NEAREST_HINT_MAX];
    for (const struct report_query *each = report_query_next(""); each != NULL;
            each = report_query_next(each->name)) {
        sim_nearest_try(&nearest, each->name, each->name);
    }
    return sim_cli_fail(SIM_EXIT_USAGE,
            "there is no query '%s'%s (`rewake query` lists them; a statement is one argument)",
            name, sim_nearest_hint(&nearest, hint));
}

static int
query_command(struct sim_cli *cli)
{
    if (cli->count == 0) {
        return list_queries();
    }
    const struct report_query *query = report_query_find(cli->arguments[0]);
    if (query == NULL && is_word(cli->arguments[0])) {
        return refuse_name(cli->arguments[0]);
    }
    if (query == NULL && cli->count > 1) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "too many arguments; a statement is one: rewake query 'SELECT ...'");
    }
    return ask(cli, query);
}

static const char *
next_name(const char *name)
{
    const struct report_query *query = report_query_next(name);
    return query != NULL ? query->name : NULL;
}

SIM_COMMAND(command, .name = "query", .purpose = SIM_PURPOSE_DATA,
        .usage = "[NAME [ARGUMENT...] | 'SELECT ...'] [--json]",
        .about = "query the trace database",
        .help = "Without a NAME, lists the named queries with their parameters. Useful views for\n"
                "statements: failures, lost_wakeups, wake_ledger, wake_edges, trace,\n"
                "poll_latency, sweep_summary, covered, first_to_cover, added, covering_runs,\n"
                "saturation, goals_missed. Stock `sqlite3` reads the same file.\n",
        .options = SIM_OPT(JSON) | SIM_OPT(DB), .takes = SIM_TAKES_NAMES | SIM_TAKES_RUNS,
        .arguments_max = REPORT_PARAMS_MAX + 1, .run = query_command, .word = next_name);
