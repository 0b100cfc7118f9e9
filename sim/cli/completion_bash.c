/*
 * completion_bash.c -- completion of command lines for bash.
 *
 * Words are taken from the line: bash splits its own at colons and equal signs, which run:12 and
 * --strategy=pct have. It also inserts the answer after the last of these.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "sim/cli/completion.h"

static const char functions[] =
        "# Completion of rewake for bash; made by `rewake completion bash`.\n"
        "_rewake_list() {\n"
        "    \"$program\" list ${library:+\"$library\"} \"$@\" --json 2>/dev/null\n"
        "}\n\n"
        "_rewake_names() {\n"
        "    _rewake_list | sed -n 's/.*\"event\":\"listed\",\"name\":\"\\([^\"]*\\)\".*/\\1/p'\n"
        "}\n\n"
        "_rewake_params() {\n"
        "    _rewake_list | grep -o '{\"name\":\"[^\"]*\"' | sed 's/.*\"\\(.*\\)\"/\\1=/' | sort "
        "-u\n"
        "}\n\n"
        "_rewake_runs() {\n"
        "    \"$program\" query \"" SIM_COMPLETION_RUNS "\" \\\n"
        "        ${db:+--db \"$db\"} --json 2>/dev/null | sed -n "
        "'s/.*\"\\(run:[0-9]*\\)\".*/\\1/p'\n"
        "}\n\n"
        "_rewake_offer() {\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$current\"; [[ -z $2 ]] || "
        "compgen -f -- \"$current\")\n"
        "    [[ -z $2 ]] || compopt -o filenames 2>/dev/null\n"
        "    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null\n"
        "    if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then\n"
        "        COMPREPLY=(\"${COMPREPLY[@]#\"${current%\"${current##*:}\"}\"}\")\n"
        "    fi\n"
        "}\n\n";

/* `last` is the option before the word to complete, `place` the index of that argument. */
static const char words[] =
        "_rewake() {\n"
        "    local IFS=$' \\t\\n' line=${COMP_LINE:0:COMP_POINT} words i\n"
        "    local last= place=0 library= db= options= first= names= runs= files=\n"
        "    read -ra words <<<\"$line\"\n"
        "    [[ $line != *[[:blank:]] ]] || words+=('')\n"
        "    local program=${words[0]/#\\~/$HOME} current=${words[${#words[@]} - 1]}\n"
        "    for ((i = 2; i < ${#words[@]} - 1; i++)); do\n"
        "        if [[ -n $last ]]; then\n"
        "            [[ $last != --db ]] || db=${words[i]}\n"
        "            last=\n"
        "            continue\n"
        "        fi\n"
        "        case ${words[i]} in\n"
        "        *.so | *.so.*) [[ $place -gt 0 ]] || library=${words[i]/#\\~/$HOME} ;;\n"
        "        --db=*) db=${words[i]#*=} ;;\n";

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

/* Options that take a value. */
static void
put_valued(void)
{
    const char *between = "";
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        struct sim_cli_option_text option = sim_cli_option_text((enum sim_cli_option)i);
        if (option.argument != NULL) {
            (void)printf("%s", between);
            put_flag_names(&option, "|");
            between = "|";
        }
    }
}

/* The value of an option. */
static void
put_values(void)
{
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        enum sim_cli_option which = (enum sim_cli_option)i;
        struct sim_cli_option_text option = sim_cli_option_text(which);
        if (option.argument == NULL) {
            continue;
        }
        (void)printf("    ");
        put_flag_names(&option, "|");
        (void)printf(") ");
        if (sim_completes_file(&option)) {
            (void)printf("_rewake_offer '' files");
        } else if (which == SIM_CLI_OPTION_PARAM) {
            (void)printf("_rewake_offer \"$(_rewake_params)\"");
        } else if (sim_completion_has_values(which)) {
            (void)printf("_rewake_offer '");
            sim_completion_put_values(which);
            (void)printf("'");
        } else {
            (void)printf("COMPREPLY=()");
        }
        (void)printf("; return ;;\n");
    }
}

static void
put_command(const struct sim_command *command)
{
    (void)printf("    %s) options='", command->name);
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        if ((command->options >> i & 1) != 0) {
            struct sim_cli_option_text option = sim_cli_option_text((enum sim_cli_option)i);
            put_flag_names(&option, " ");
            (void)printf(" ");
        }
    }
    (void)printf("' first='");
    sim_completion_put_words(command);
    (void)printf("' names=%s runs=%s files=%s ;;\n", sim_completes(command, SIM_TAKES_NAMES, "yes"),
            sim_completes(command, SIM_TAKES_RUNS, "yes"),
            sim_completes(command, SIM_TAKES_LIBRARY | SIM_TAKES_FILES, "yes"));
}

void
sim_completion_bash(void)
{
    (void)printf("%s%s        ", functions, words);
    put_valued();
    (void)printf(") last=${words[i]} ;;\n"
                 "        -*) ;;\n"
                 "        *) place=$((place + 1)) ;;\n"
                 "        esac\n"
                 "    done\n"
                 "    if [[ ${#words[@]} -le 2 ]]; then\n"
                 "        _rewake_offer '");
    for (const struct sim_command *each = sim_cli_next_command(""); each != NULL;
            each = sim_cli_next_command(each->name)) {
        (void)printf("%s ", each->name);
    }
    (void)printf("help --version'\n        return\n    fi\n"
                 "    if [[ $current == --*=* ]]; then\n"
                 "        last=${current%%%%=*} current=${current#*=}\n"
                 "    fi\n"
                 "    case $last in\n");
    put_values();
    (void)printf("    esac\n    case ${words[1]} in\n");
    for (const struct sim_command *each = sim_cli_next_command(""); each != NULL;
            each = sim_cli_next_command(each->name)) {
        put_command(each);
    }
    (void)printf("    esac\n"
                 "    if [[ $current == -* ]]; then\n"
                 "        _rewake_offer \"$options\"\n"
                 "    elif [[ -n $first && $place -eq 0 ]]; then\n"
                 "        _rewake_offer \"$first\"\n"
                 "    else\n"
                 "        [[ -z $names ]] || names=$(_rewake_names)\n"
                 "        [[ -z $runs ]] || runs=$(_rewake_runs)\n"
                 "        _rewake_offer \"$names $runs\" \"$files\"\n"
                 "    fi\n"
                 "}\n"
                 "complete -o bashdefault -F _rewake rewake\n");
}
