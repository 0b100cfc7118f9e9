/*
 * completion_zsh.c -- completion of command lines for zsh.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "sim/cli/completion.h"

/* Within single quotes, where brackets and colons are separators. */
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
    /* Assignments can be repeated. */
    bool repeats = which == SIM_CLI_OPTION_PARAM || which == SIM_CLI_OPTION_OPTION;
    (void)printf("            '%s%s[", repeats ? "*" : "", flag);
    put_quoted(option->about);
    (void)printf("]");
    if (option->argument != NULL) {
        (void)printf(":");
        put_quoted(option->argument);
        (void)printf(":");
        if (sim_completes_file(option)) {
            (void)printf("_files");
        } else if (which == SIM_CLI_OPTION_PARAM) {
            (void)printf("_rewake_params");
        } else if (which == SIM_CLI_OPTION_OPTION) {
            (void)printf("{compadd -S \"\" -- ");
            sim_completion_put_values(which);
            (void)printf("}");
        } else if (sim_completion_has_values(which)) {
            (void)printf("(");
            sim_completion_put_values(which);
            (void)printf(")");
        }
    }
    (void)printf("' \\\n");
}

static void
zsh_arguments(const struct sim_command *command)
{
    if (command->word != NULL) {
        (void)printf("            '1:word:(");
        sim_completion_put_words(command);
        (void)printf(")' \\\n");
    }
    (void)printf("            '*:argument:{_rewake_rest \"%s\" \"%s\" \"%s\"}' ;;\n",
            sim_completes(command, SIM_TAKES_NAMES, "names"),
            sim_completes(command, SIM_TAKES_RUNS, "runs"),
            sim_completes(command, SIM_TAKES_LIBRARY | SIM_TAKES_FILES, "files"));
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
    zsh_arguments(command);
}

static const char functions[] =
        "#compdef rewake\n"
        "# Completion of rewake for zsh; made by `rewake completion zsh`.\n"
        "_rewake_list() {\n"
        "    local library=\n"
        "    [[ $rewake_library == *.so* ]] && library=$rewake_library\n"
        "    $rewake_program list ${library:+\"$library\"} --json 2>/dev/null\n"
        "}\n\n"
        "_rewake_params() {\n"
        "    local -a params\n"
        "    params=(${(f)\"$(_rewake_list | grep -o '{\"name\":\"[^\"]*\"' |\n"
        "        sed 's/.*\"\\(.*\\)\"/\\1=/' | sort -u)\"})\n"
        "    compadd -S '' -a params\n"
        "}\n\n"
        "_rewake_rest() {\n"
        "    local -a names runs\n"
        "    [[ -n $1 ]] && names=(${(f)\"$(_rewake_list |\n"
        "        sed -n 's/.*\"event\":\"listed\",\"name\":\"\\([^\"]*\\)\".*/\\1/p')\"})\n"
        "    [[ -n $2 ]] && runs=(${(f)\"$($rewake_program query \"" SIM_COMPLETION_RUNS "\" \\\n"
        "        ${rewake_db:+--db \"$rewake_db\"} --json 2>/dev/null |\n"
        "        sed -n 's/.*\"\\(run:[0-9]*\\)\".*/\\1/p')\"})\n"
        "    (( $#names )) && compadd -a names\n"
        "    (( $#runs )) && compadd -a runs\n"
        "    [[ -n $3 ]] && _files\n"
        "}\n\n"
        "_rewake() {\n"
        "    local rewake_program=${~words[1]} rewake_library=${~words[3]} rewake_db=\n"
        "    (( $words[(I)--db] )) && rewake_db=$words[$words[(I)--db] + 1]\n"
        "    local -a commands\n"
        "    commands=(\n";

void
sim_completion_zsh(void)
{
    (void)printf("%s", functions);
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
