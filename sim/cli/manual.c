/*
 * manual.c -- `rewake manual`: manual pages, for scdoc.
 *
 * A page is the usage, the help and the options of a command, from the same tables that parse them.
 * scripts/manual adds the examples, which no table has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/build.h"
#include "sim/base/heap.h"
#include "sim/cli/cli.h"
#include "sim/core/decide/options.h"

#define INDEX "rewake" /* The page of the program itself. */

/* ---- Text, escaped for scdoc. ---------------------------------------------------------------- */

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

/* Lines as they are, but without an indent, which scdoc would read as a quotation. */
static void
put_lines(const char *text)
{
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        size_t blanks = strspn(line, " ");
        char *one = sim_heap_printf("%.*s", (int)(length - blanks), line + blanks);
        (void)printf("%s", *one == '-' ? "\\" : ""); /* Not an entry of a list. */
        put(one);
        (void)putchar('\n');
        free(one);
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
        if (sim_cli_has_option(command, (enum sim_cli_option)i)) {
            struct sim_cli_option_text option = sim_cli_option_text((enum sim_cli_option)i);
            put_option(&option);
        }
    }
}

static void
put_run_options(const struct sim_command *command)
{
    if (!sim_cli_has_option(command, SIM_CLI_OPTION_OPTION)) {
        return;
    }
    (void)printf("# OPTIONS OF THE RUNS\n\nFor *-O*, with their defaults.\n\n");
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        (void)printf("*");
        put(sim_option_name(i));
        (void)printf("*\n\t");
        put(sim_option_about(i));
        if (sim_option_default(i) == SIM_FAULT_FROM_SCENARIO) {
            (void)printf(" (as the scenario declares)\n\n");
        } else {
            (void)printf(" (%llu)\n\n", (unsigned long long)sim_option_default(i));
        }
    }
}

/* ---- Pages. ---------------------------------------------------------------------------------- */

static const char ends[] =
        "# EXIT STATUS\n\n"
        "0 all passed; 1 a bug was found; 2 usage, a malformed token, a library that does not "
        "load;\n"
        "3 a replay differs, or nondeterminism; 4 nothing matched; 5 interrupted, or fewer runs\n"
        "than asked for; 70 rewake or its database failed; 125 a token that this build cannot\n"
        "judge, or a program that does what is not simulated.\n\n"
        "# FILES\n\n"
        "_.rewake/trace.db_\n"
        "\tthe trace database, an SQLite file, unless *--db* names another\n\n";

static void
put_page(const struct sim_command *command)
{
    char page[64];
    (void)snprintf(page, sizeof(page), "rewake-%s", command->name);
    title(page);
    (void)printf("# NAME\n\n%s - ", page);
    put(command->about);
    (void)printf("\n\n# SYNOPSIS\n\n");
    for (const char *form = command->usage; form != NULL;) {
        const char *end = strchr(form, '\n');
        char *one = sim_heap_printf("%.*s", (int)strcspn(form, "\n"), form);
        (void)printf("*rewake %s* ", command->name);
        put(one);
        (void)printf("\n\n");
        free(one);
        form = end != NULL ? end + 1 : NULL;
    }
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
put_entry(const struct sim_command *command)
{
    (void)printf("*rewake-%s*(1)\n\t", command->name);
    put(command->about);
    (void)printf("\n\n");
}

static void
put_index(void)
{
    title(INDEX);
    (void)printf(
            "# NAME\n\nrewake - finds, explains and replays lost wake-ups in async runtimes\n\n"
            "# SYNOPSIS\n\n*rewake* COMMAND \\[arguments\\]\n\n"
            "# DESCRIPTION\n\n"
            "Runs code that polls and wakes in a simulated world in which every order, delay\n"
            "and spurious event comes from a seed; finds the tasks that wait forever although\n"
            "they could make progress; reports which wake is missing; and repeats the same run\n"
            "from one word, a token. Scenarios are built in, or come from a library, which is\n"
            "the first argument (*rewake-scenario*(7)).\n\n# COMMANDS\n\n");
    sim_cli_each_command(put_entry);
    (void)printf("*rewake-new-project*(1)\n\tbegin a project with your scenarios\n\n"
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
                 "*REWAKE\\_LINK*\n\twhere a line of source leads, in colour and on pages:\n"
                 "\t\"vscode://file{path}:{line}\"; {file} is relative to the repository\n\n"
                 "# SEE ALSO\n\n*rewake-scenario*(7), *rewake-rt*(3), *sqlite3*(1)\n");
}

static void
put_name(const struct sim_command *command)
{
    (void)printf("%s\n", command->name);
}

static int
manual(struct sim_cli *cli)
{
    const char *page = cli->count > 0 ? cli->arguments[0] : NULL;
    if (page == NULL) {
        (void)printf(INDEX "\n");
        sim_cli_each_command(put_name);
    } else if (strcmp(page, INDEX) == 0) {
        put_index();
    } else {
        const struct sim_command *command = sim_cli_find_command(page);
        if (command == NULL) {
            return SIM_EXIT_USAGE;
        }
        put_page(command);
    }
    return SIM_EXIT_HELD;
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

SIM_COMMAND(command, .name = "manual", .purpose = SIM_PURPOSE_DATA, .usage = "[COMMAND]",
        .about = "the source of a manual page, for scdoc",
        .help = "Without a COMMAND, the names of all pages. `make install` makes manual pages "
                "of them; here: rewake manual run | scdoc | man -l -\n",
        .arguments_max = 1, .run = manual, .word = next_page);
