/*
 * completion.c -- `rewake completion`: what a shell needs to complete command lines.
 *
 * Made of the tables that parse them. Names of scenarios are asked of `rewake list` when they are
 * wanted, so that those of a library that is named in front are among them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "sim/cli/cli.h"
#include "sim/strategy/strategy.h"
#include "sim/world/options.h"

/* ---- What may stand where. ------------------------------------------------------------------- */

static bool
takes_names(const struct sim_command *command)
{
    return strstr(command->usage, "PATTERN") != NULL ||
           strstr(command->usage, "SCENARIO") != NULL || command->takes_library;
}

static bool
is_any(const char *text, const char *a, const char *b, const char *c)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

static bool
takes_file(const struct sim_cli_option_text *option)
{
    return option->argument != NULL && is_any(option->argument, "FILE", "PATH", "DIR");
}

/* The words that an option's value may be; "": any. Ends with a blank each. */
static void
put_values(enum sim_cli_option option)
{
    if (option == SIM_CLI_OPTION_STRATEGY) {
        for (uint32_t i = 0; i < sim_strategy_count(); i++) {
            (void)printf("%s ", sim_strategy_at(i)->name);
        }
    } else if (option == SIM_CLI_OPTION_OPTION) {
        for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
            (void)printf("%s= ", sim_option_name(i));
        }
    } else if (option == SIM_CLI_OPTION_RECORD) {
        (void)printf("news all none ");
    }
}

static bool
has_values(enum sim_cli_option option)
{
    return option == SIM_CLI_OPTION_STRATEGY || option == SIM_CLI_OPTION_OPTION ||
           option == SIM_CLI_OPTION_RECORD;
}

/* ---- bash. ----------------------------------------------------------------------------------- */

static void
put_flag_names(const struct sim_cli_option_text *option, const char *between)
{
    if (option->letter != 0) {
        (void)printf("-%c", option->letter);
    }
    if (option->name != NULL) {
        (void)printf("%s--%s", option->letter != 0 ? between : "", option->name);
    }
}

/* What comes behind an option that takes a value. */
static void
bash_values(void)
{
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        struct sim_cli_option_text option = sim_cli_option_text((enum sim_cli_option)i);
        if (option.argument == NULL) {
            continue;
        }
        (void)printf("    ");
        put_flag_names(&option, "|");
        (void)printf(")\n        ");
        if (takes_file(&option)) {
            (void)printf("mapfile -t COMPREPLY < <(compgen -f -- \"$current\")");
        } else if (has_values((enum sim_cli_option)i)) {
            (void)printf("mapfile -t COMPREPLY < <(compgen -W '");
            put_values((enum sim_cli_option)i);
            (void)printf("' -- \"$current\")");
        } else {
            (void)printf("COMPREPLY=()");
        }
        (void)printf("\n        return ;;\n");
    }
}

static void
bash_command(const struct sim_command *command)
{
    (void)printf("    %s) options='", command->name);
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        if ((command->options >> i & 1) != 0) {
            struct sim_cli_option_text option = sim_cli_option_text((enum sim_cli_option)i);
            put_flag_names(&option, " ");
            (void)printf(" ");
        }
    }
    (void)printf("' names=%s ;;\n", takes_names(command) ? "yes" : "");
}

static void
put_commands(void)
{
    for (const struct sim_command *each = sim_cli_next_command(""); each != NULL;
            each = sim_cli_next_command(each->name)) {
        (void)printf("%s ", each->name);
    }
}

static void
bash(void)
{
    (void)printf("# Completion of rewake for bash; made by `rewake completion bash`.\n"
                 "_rewake_names() {\n"
                 "    local library=\n"
                 "    [[ ${COMP_WORDS[2]-} != *.so* || COMP_CWORD -le 2 ]] || "
                 "library=${COMP_WORDS[2]}\n"
                 "    \"${COMP_WORDS[0]}\" list ${library:+\"$library\"} --json 2>/dev/null |\n"
                 "        sed -n 's/.*\"name\":\"\\([^\"]*\\)\".*/\\1/p'\n"
                 "}\n\n"
                 "_rewake() {\n"
                 "    local current=${COMP_WORDS[COMP_CWORD]} options= names= IFS=$' \\t\\n'\n"
                 "    if [[ $COMP_CWORD -eq 1 ]]; then\n"
                 "        mapfile -t COMPREPLY < <(compgen -W '");
    put_commands();
    (void)printf("help --version' -- \"$current\")\n        return\n    fi\n"
                 "    case ${COMP_WORDS[COMP_CWORD - 1]} in\n");
    bash_values();
    (void)printf("    esac\n    case ${COMP_WORDS[1]} in\n");
    for (const struct sim_command *each = sim_cli_next_command(""); each != NULL;
            each = sim_cli_next_command(each->name)) {
        bash_command(each);
    }
    (void)printf("    esac\n"
                 "    if [[ $current == -* ]]; then\n"
                 "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
                 "    else\n"
                 "        mapfile -t COMPREPLY < <(\n"
                 "            compgen -f -- \"$current\"\n"
                 "            [[ -z $names ]] || compgen -W \"$(_rewake_names)\" -- \"$current\"\n"
                 "        )\n"
                 "    fi\n"
                 "}\n"
                 "complete -o filenames -o bashdefault -F _rewake rewake\n");
}

/* ---- zsh. ------------------------------------------------------------------------------------ */

/* Within single quotes, and where brackets and colons divide. */
static void
put_quoted(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'') {
            (void)printf("'\\''");
        } else if (strchr("[]:\\", *c) != NULL) {
            (void)printf("\\%c", *c);
        } else {
            (void)putchar(*c);
        }
    }
}

static void
zsh_flag(const char *flag, const struct sim_cli_option_text *option, enum sim_cli_option which)
{
    /* Assignments may come several times. */
    bool repeats = which == SIM_CLI_OPTION_PARAM || which == SIM_CLI_OPTION_OPTION;
    (void)printf("            '%s%s[", repeats ? "*" : "", flag);
    put_quoted(option->about);
    (void)printf("]");
    if (option->argument != NULL) {
        (void)printf(":");
        put_quoted(option->argument);
        (void)printf(":");
        if (takes_file(option)) {
            (void)printf("_files");
        } else if (has_values(which)) {
            (void)printf("(");
            put_values(which);
            (void)printf(")");
        }
    }
    (void)printf("' \\\n");
}

static void
zsh_command(const struct sim_command *command)
{
    (void)printf("    %s)\n        _arguments \\\n", command->name);
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        if ((command->options >> i & 1) == 0) {
            continue;
        }
        char flag[48];
        enum sim_cli_option which = (enum sim_cli_option)i;
        struct sim_cli_option_text option = sim_cli_option_text(which);
        if (option.letter != 0) {
            (void)snprintf(flag, sizeof(flag), "-%c", option.letter);
            zsh_flag(flag, &option, which);
        }
        if (option.name != NULL) {
            (void)snprintf(flag, sizeof(flag), "--%s", option.name);
            zsh_flag(flag, &option, which);
        }
    }
    (void)printf("            '*: :%s' ;;\n", takes_names(command) ? "_rewake_names" : "_files");
}

static void
zsh(void)
{
    (void)printf("#compdef rewake\n"
                 "# Completion of rewake for zsh; made by `rewake completion zsh`.\n"
                 "_rewake_names() {\n"
                 "    local library=\n"
                 "    [[ $rewake_library == *.so* ]] && library=$rewake_library\n"
                 "    local -a names\n"
                 "    names=(${(f)\"$(\"$rewake_program\" list ${library:+\"$library\"} --json "
                 "2>/dev/null |\n"
                 "        sed -n 's/.*\"name\":\"\\([^\"]*\\)\".*/\\1/p')\"})\n"
                 "    _alternative 'scenarios:scenario:compadd -a names' 'files:file:_files'\n"
                 "}\n\n"
                 "_rewake() {\n"
                 "    local rewake_program=$words[1] rewake_library=$words[3]\n"
                 "    local -a commands\n"
                 "    commands=(\n");
    for (const struct sim_command *each = sim_cli_next_command(""); each != NULL;
            each = sim_cli_next_command(each->name)) {
        (void)printf("        '%s:", each->name);
        put_quoted(each->about);
        (void)printf("'\n");
    }
    (void)printf("    )\n"
                 "    if (( CURRENT == 2 )); then\n"
                 "        _describe command commands\n"
                 "        return\n"
                 "    fi\n"
                 "    local command=$words[2]\n"
                 "    shift words\n"
                 "    (( CURRENT-- ))\n"
                 "    case $command in\n");
    for (const struct sim_command *each = sim_cli_next_command(""); each != NULL;
            each = sim_cli_next_command(each->name)) {
        zsh_command(each);
    }
    (void)printf("    esac\n}\n\n_rewake \"$@\"\n");
}

static int
completion(struct sim_cli *cli)
{
    if (strcmp(cli->arguments[0], "bash") == 0) {
        bash();
    } else if (strcmp(cli->arguments[0], "zsh") == 0) {
        zsh();
    } else {
        return sim_cli_fail(
                SIM_EXIT_USAGE, "there is no completion for %s; bash or zsh", cli->arguments[0]);
    }
    return SIM_EXIT_HELD;
}

SIM_COMMAND(command, .name = "completion", .usage = "bash|zsh",
        .about = "what a shell needs to complete command lines",
        .help = "In bash: source <(rewake completion bash). `make install` puts both where shells\n"
                "look for them.\n",
        .options = SIM_CLI_OPTION_BIT(HELP), .arguments_min = 1, .arguments_max = 1,
        .run = completion);
