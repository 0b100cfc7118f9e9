/*
 * manual.c -- `rewake manual`: manual pages, for scdoc, out of what the commands say of themselves.
 *
 * A page is the usage, the lines of help and the options of a command, from the same tables that
 * parse them; so a page cannot be of another version than the program. Examples, which no table
 * has, are put in by scripts/manual.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "sim/cli/cli.h"
#include "sim/cli/print/build.h"
#include "sim/core/options.h"

#define INDEX "rewake" /* The page of the program itself. */

/* ---- Text, so that scdoc takes it for text. -------------------------------------------------- */

static void
put(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (strchr("\\*_`#[]|<>+~!", *c) != NULL) {
            (void)putchar('\\');
        }
        (void)putchar(*c);
    }
}

/* On one line, also where the terminal gets several. */
static void
put_folded(const char *text)
{
    char one[512];
    size_t used = 0;
    for (const char *c = text; *c != '\0' && used + 1 < sizeof(one); c++) {
        bool blank = *c == ' ' || *c == '\n';
        if (!blank || (used > 0 && one[used - 1] != ' ')) {
            one[used++] = blank ? ' ' : *c;
        }
    }
    one[used] = '\0';
    put(one);
}

/* Lines as they are, but for an indent, which scdoc would take for a quotation. */
static void
put_lines(const char *text)
{
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        char one[256];
        (void)snprintf(one, sizeof(one), "%.*s", (int)length, line);
        const char *begin = one + strspn(one, " \t");
        (void)printf("%s", *begin == '-' ? "\\" : ""); /* No entry of a list. */
        put(begin);
        (void)putchar('\n');
        line += length + (line[length] == '\n');
    }
}

static void
title(const char *page)
{
    (void)printf("%s(1) \"rewake %s\" \"rewake\"\n\n", page, SIM_VERSION);
}

/* ---- Options. -------------------------------------------------------------------------------- */

static void
put_option(const struct sim_cli_option_text *option)
{
    if (option->letter != 0) {
        (void)printf("*-%c*", option->letter);
    }
    if (option->name != NULL) {
        (void)printf("%s*--%s*", option->letter != 0 ? ", " : "", option->name);
    }
    if (option->argument != NULL) {
        (void)printf(" ");
        put(option->argument);
    }
    (void)printf("\n\t");
    put(option->about);
    if (option->environment != NULL) {
        (void)printf(" (environment: ");
        put(option->environment);
        (void)printf(")");
    }
    (void)printf("\n\n");
}

static void
put_options(const struct sim_command *command)
{
    (void)printf("# OPTIONS\n\n");
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        if ((command->options >> i & 1) != 0) {
            struct sim_cli_option_text option = sim_cli_option_text((enum sim_cli_option)i);
            put_option(&option);
        }
    }
}

static void
put_run_options(const struct sim_command *command)
{
    if ((command->options & SIM_CLI_OPTION_BIT(OPTION)) == 0) {
        return;
    }
    (void)printf("# OPTIONS OF THE RUNS\n\nFor *-O*, with what they are when nobody says.\n\n");
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        (void)printf("*");
        put(sim_option_name(i));
        (void)printf("*\n\t");
        put(sim_option_about(i));
        if (sim_option_default(i) == SIM_FAULT_FROM_SCENARIO) {
            (void)printf(" (what the scenario survives)\n\n");
        } else {
            (void)printf(" (%llu)\n\n", (unsigned long long)sim_option_default(i));
        }
    }
}

/* ---- Pages. ---------------------------------------------------------------------------------- */

static const char ends[] =
        "# EXIT STATUS\n\n"
        "0 all held; 1 a bug was found; 2 usage, a malformed token, a library that does not load;\n"
        "3 a replay differs, or nondeterminism; 4 nothing matched; 5 interrupted, or fewer runs\n"
        "than asked for; 70 rewake or its database failed; 125 a token that this build cannot\n"
        "judge.\n\n"
        "# FILES\n\n"
        "_.rewake/trace.db_\n"
        "\tthe trace database, an SQLite file, where *--db* names no other\n\n";

static void
put_page(const struct sim_command *command)
{
    char page[64];
    (void)snprintf(page, sizeof(page), "rewake-%s", command->name);
    title(page);
    (void)printf("# NAME\n\n%s - ", page);
    put(command->about);
    (void)printf("\n\n# SYNOPSIS\n\n*rewake %s* ", command->name);
    put_folded(command->usage);
    (void)printf("\n\n");
    if (command->help != NULL) {
        (void)printf("# DESCRIPTION\n\n");
        put_lines(command->help);
        (void)printf("\n");
    }
    put_options(command);
    put_run_options(command);
    (void)printf("%s# SEE ALSO\n\n*rewake*(1), *rewake-scenario*(7)\n", ends);
}

static void
put_index(void)
{
    title(INDEX);
    (void)printf("# NAME\n\nrewake - finds, tells and replays lost wake-ups in async runtimes\n\n"
                 "# SYNOPSIS\n\n*rewake* COMMAND \\[arguments\\]\n\n"
                 "# DESCRIPTION\n\n"
                 "Runs code that polls and wakes in a simulated world in which every order, delay\n"
                 "and spurious event comes from a seed; finds what sleeps forever although it\n"
                 "could go on; tells which wake is missing; and makes the same run again from one\n"
                 "word, a token. Scenarios are built in, or come from a library that is named in\n"
                 "front (*rewake-scenario*(7)).\n\n# COMMANDS\n\n");
    for (const struct sim_command *each = sim_cli_next_command(""); each != NULL;
            each = sim_cli_next_command(each->name)) {
        (void)printf("*rewake-%s*(1)\n\t", each->name);
        put(each->about);
        (void)printf("\n\n");
    }
    (void)printf("*rewake-new-project*(1)\n\tbegin a project with scenarios of your own\n\n"
                 "%s# ENVIRONMENT\n\n",
            ends);
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        struct sim_cli_option_text option = sim_cli_option_text((enum sim_cli_option)i);
        if (option.environment != NULL) {
            (void)printf("*");
            put(option.environment);
            (void)printf("*\n\tas *--%s*, which wins\n\n", option.name);
        }
    }
    (void)printf("*NO\\_COLOR*, *CLICOLOR\\_FORCE*, *TERM*\n\twhether there are colours\n\n"
                 "# SEE ALSO\n\n*rewake-scenario*(7), *rewake-rt*(3), *sqlite3*(1)\n");
}

static int
manual(struct sim_cli *cli)
{
    if (cli->count == 0) {
        (void)printf(INDEX "\n");
    }
    for (const struct sim_command *each = sim_cli_next_command(""); each != NULL;
            each = sim_cli_next_command(each->name)) {
        if (cli->count == 0) {
            (void)printf("%s\n", each->name);
        } else if (strcmp(each->name, cli->arguments[0]) == 0) {
            put_page(each);
            return SIM_EXIT_HELD;
        }
    }
    if (cli->count == 0) {
        return SIM_EXIT_HELD;
    }
    if (strcmp(cli->arguments[0], INDEX) == 0) {
        put_index();
        return SIM_EXIT_HELD;
    }
    return sim_cli_fail(
            SIM_EXIT_USAGE, "there is no page '%s'; `rewake manual` lists them", cli->arguments[0]);
}

/* Pages are called as commands are, and INDEX. */
static const char *
next_page(const char *page)
{
    const struct sim_command *command = sim_cli_next_command(page);
    bool index = strcmp(page, INDEX) < 0 && (command == NULL || strcmp(INDEX, command->name) < 0);
    if (index) {
        return INDEX;
    }
    return command != NULL ? command->name : NULL;
}

SIM_COMMAND(command, .name = "manual", .usage = "[COMMAND]",
        .about = "the source of a manual page, for scdoc",
        .help = "Without a COMMAND, the names of all pages. `make install` makes manual pages of\n"
                "them; here: rewake manual run | scdoc | man -l -\n",
        .options = SIM_CLI_OPTION_BIT(HELP), .arguments_max = 1, .run = manual, .word = next_page);
