/*
 * completion.c -- `rewake completion`: what a shell needs to complete command lines.
 *
 * completion.bash, completion.fish and completion.zsh are the scripts; each @PART@ in them is made
 * of the tables that parse command lines. Scenarios and runs are not in these: the shell asks
 * `rewake list`, with the library on the command line, and `rewake query`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/cli/cli.h"
#include "sim/core/decide/options.h"
#include "sim/search/strategy.h"

extern const char sim_completion_bash[];
extern const char sim_completion_zsh[];
extern const char sim_completion_fish[];

/* ---- Words. ---------------------------------------------------------------------------------- */

static bool
takes_file(const struct sim_cli_option_text *option)
{
    return strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "PATH") == 0 ||
           strcmp(option->argument, "DIR") == 0;
}

/* Prints the words that the value of an option may be, each with a blank after it. */
static void
put_values(enum sim_cli_option option)
{
    for (uint32_t i = 0; option == SIM_CLI_OPTION_STRATEGY && i < sim_strategy_count(); i++) {
        (void)printf("%s ", sim_strategy_at(i)->name);
    }
    for (uint32_t i = 0; option == SIM_CLI_OPTION_OPTION && i < SIM_OPTIONS; i++) {
        (void)printf("%s= ", sim_option_name(i));
    }
    (void)fputs(option == SIM_CLI_OPTION_RECORD ? "news all none " : "", stdout);
}

static bool
has_values(enum sim_cli_option option)
{
    return option == SIM_CLI_OPTION_STRATEGY || option == SIM_CLI_OPTION_OPTION ||
           option == SIM_CLI_OPTION_RECORD;
}

/* The words that its first argument may be, likewise. */
static void
put_words(const struct sim_command *command)
{
    for (const char *word = command->word != NULL ? command->word("") : NULL; word != NULL;
            word = command->word(word)) {
        rt_assert(strpbrk(word, " '\"\\") == NULL);
        (void)printf("%s ", word);
    }
}

/* `yes` where the arguments of a command may be that, else "". */
static const char *
takes(const struct sim_command *command, uint32_t what, const char *yes)
{
    return (command->takes & what) != 0 ? yes : "";
}

/* ---- bash. ----------------------------------------------------------------------------------- */

static void
bash_flags(const struct sim_cli_option_text *option, const char *between)
{
    if (option->letter != 0) {
        (void)printf("-%c%s", option->letter, option->name != NULL ? between : "");
    }
    if (option->name != NULL) {
        (void)printf("--%s", option->name);
    }
}

/* Options that take a value. */
static void
bash_valued(void)
{
    const char *between = "";
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        struct sim_cli_option_text option = sim_cli_option_text((enum sim_cli_option)i);
        if (option.argument != NULL) {
            (void)fputs(between, stdout);
            bash_flags(&option, "|");
            between = "|";
        }
    }
}

/* What is offered after such an option; nothing after most. */
static void
bash_values(void)
{
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        enum sim_cli_option which = (enum sim_cli_option)i;
        struct sim_cli_option_text option = sim_cli_option_text(which);
        bool file = option.argument != NULL && takes_file(&option);
        if (!file && !has_values(which) && which != SIM_CLI_OPTION_PARAM) {
            continue;
        }
        (void)printf("    ");
        bash_flags(&option, "|");
        (void)printf(") _rewake_offer ");
        if (file || which == SIM_CLI_OPTION_PARAM) {
            (void)fputs(file ? "'' files" : "\"$(_rewake_params)\"", stdout);
        } else {
            (void)printf("'");
            put_values(which);
            (void)printf("'");
        }
        (void)printf("; return ;;\n");
    }
}

static void
bash_name(const struct sim_command *each)
{
    (void)printf("%s ", each->name);
}

static void
bash_command(const struct sim_command *each)
{
    (void)printf("    %s) options='", each->name);
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        struct sim_cli_option_text option = sim_cli_option_text((enum sim_cli_option)i);
        if (sim_cli_has_option(each, (enum sim_cli_option)i)) {
            bash_flags(&option, " ");
            (void)printf(" ");
        }
    }
    (void)printf("' first='");
    put_words(each);
    (void)printf("' names=%s runs=%s files=%s ;;\n", takes(each, SIM_TAKES_NAMES, "yes"),
            takes(each, SIM_TAKES_RUNS, "yes"),
            takes(each, SIM_TAKES_LIBRARY | SIM_TAKES_FILES, "yes"));
}

/* ---- zsh. ------------------------------------------------------------------------------------ */

/* Within single quotes, where brackets and colons are separators. */
static void
zsh_quoted(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'') {
            (void)printf("'\\''");
        } else {
            (void)printf(strchr("[]:\\", *c) != NULL ? "\\%c" : "%c", *c);
        }
    }
}

static void
zsh_command(const struct sim_command *each)
{
    (void)printf("        '%s:", each->name);
    zsh_quoted(each->about);
    (void)printf("'\n");
}

static void
zsh_value(enum sim_cli_option which, const struct sim_cli_option_text *option)
{
    bool assigns = which == SIM_CLI_OPTION_OPTION;
    (void)printf(":");
    zsh_quoted(option->argument);
    (void)printf(":");
    if (takes_file(option) || which == SIM_CLI_OPTION_PARAM) {
        (void)fputs(takes_file(option) ? "_files" : "_rewake_params", stdout);
    } else if (has_values(which)) {
        (void)fputs(assigns ? "{compadd -S \"\" -- " : "(", stdout);
        put_values(which);
        (void)fputs(assigns ? "}" : ")", stdout);
    }
}

/* `flag` as it is typed; assignments can be repeated. */
static void
zsh_flag(const char *flag, enum sim_cli_option which, const struct sim_cli_option_text *option)
{
    bool repeats = which == SIM_CLI_OPTION_PARAM || which == SIM_CLI_OPTION_OPTION;
    (void)printf("            '%s%s[", repeats ? "*" : "", flag);
    zsh_quoted(option->about);
    (void)printf("]");
    if (option->argument != NULL) {
        zsh_value(which, option);
    }
    (void)printf("' \\\n");
}

static void
zsh_options(const struct sim_command *command)
{
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        enum sim_cli_option which = (enum sim_cli_option)i;
        struct sim_cli_option_text option = sim_cli_option_text(which);
        const char letter[] = {'-', option.letter, '\0'};
        char flag[SIM_CLI_FLAG_MAX];
        if (!sim_cli_has_option(command, (enum sim_cli_option)i)) {
            continue;
        }
        if (option.letter != 0) {
            zsh_flag(letter, which, &option);
        }
        if (option.name != NULL) {
            sim_cli_flag(which, flag);
            zsh_flag(flag, which, &option);
        }
    }
}

static void
zsh_command_arguments(const struct sim_command *each)
{
    (void)printf("    %s)\n        _arguments \\\n", each->name);
    zsh_options(each);
    if (each->word != NULL) {
        (void)printf("            '1:word:(");
        put_words(each);
        (void)printf(")' \\\n");
    }
    (void)printf("            '*:argument:{_rewake_rest \"%s\" \"%s\" \"%s\"}' ;;\n",
            takes(each, SIM_TAKES_NAMES, "names"), takes(each, SIM_TAKES_RUNS, "runs"),
            takes(each, SIM_TAKES_LIBRARY | SIM_TAKES_FILES, "files"));
}

/* ---- fish. ----------------------------------------------------------------------------------- */

static void
fish_about(const char *text)
{
    (void)printf(" -d '");
    for (const char *c = text; *c != '\0'; c++) {
        (void)printf(*c == '\'' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    (void)printf("'\n");
}

static void
fish_command(const struct sim_command *each)
{
    (void)printf("complete -c rewake -n __fish_use_subcommand -a %s", each->name);
    fish_about(each->about);
}

static void
fish_option(const struct sim_command *command, enum sim_cli_option which)
{
    struct sim_cli_option_text option = sim_cli_option_text(which);
    (void)printf("complete -c rewake -n '__fish_seen_subcommand_from %s'", command->name);
    if (option.letter != 0) {
        (void)printf(" -s %c", option.letter);
    }
    if (option.name != NULL) {
        (void)printf(" -l %s", option.name);
    }
    if (has_values(which)) {
        (void)printf(" -x -a '");
        put_values(which);
        (void)printf("'");
    } else if (option.argument != NULL) {
        (void)fputs(takes_file(&option) ? " -r -F" : " -x", stdout);
    }
    fish_about(option.about);
}

static void
fish_rest(const struct sim_command *command, const char *words)
{
    if (*words != '\0') {
        (void)printf("complete -c rewake -n '__fish_seen_subcommand_from %s' %s\n", command->name,
                words);
    }
}

static void
fish_arguments(const struct sim_command *each)
{
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        if (sim_cli_has_option(each, (enum sim_cli_option)i)) {
            fish_option(each, (enum sim_cli_option)i);
        }
    }
    if (each->word != NULL) {
        (void)printf("complete -c rewake -n '__fish_seen_subcommand_from %s' -a '", each->name);
        put_words(each);
        (void)printf("'\n");
    }
    fish_rest(each, takes(each, SIM_TAKES_NAMES, "-a '(__rewake_names)'"));
    fish_rest(each, takes(each, SIM_TAKES_RUNS, "-a '(__rewake_runs)'"));
    fish_rest(each, takes(each, SIM_TAKES_LIBRARY | SIM_TAKES_FILES, "-F"));
}

/* ---- The command. ---------------------------------------------------------------------------- */

/* One that is made of each command has `of`. */
struct part {
    const char *mark; /* In the script. */
    void (*put)(void);
    void (*of)(const struct sim_command *command);
};

static const struct shell {
    const char *name;
    const char *script;
    struct part parts[5];
} shells[] = {
        {"bash", sim_completion_bash,
                {{"@valued@", bash_valued, NULL}, {"@names@", NULL, bash_name},
                        {"@values@", bash_values, NULL}, {"@commands@", NULL, bash_command}}},
        {"fish", sim_completion_fish,
                {{"@commands@", NULL, fish_command}, {"@arguments@", NULL, fish_arguments}}},
        {"zsh", sim_completion_zsh,
                {{"@commands@", NULL, zsh_command}, {"@arguments@", NULL, zsh_command_arguments}}},
};
#define SHELLS (sizeof(shells) / sizeof(*shells))

/* The parts are in the order of their marks. */
static void
put_script(const struct shell *shell)
{
    const char *from = shell->script;
    for (const struct part *part = shell->parts; part->mark != NULL; part++) {
        const char *mark = strstr(from, part->mark);
        rt_assert(mark != NULL);
        (void)fwrite(from, 1, (size_t)(mark - from), stdout);
        if (part->of != NULL) {
            sim_cli_each_command(part->of);
        } else {
            part->put();
        }
        from = mark + strlen(part->mark);
    }
    (void)fputs(from, stdout);
}

static const char *
next_shell(const char *after)
{
    for (size_t i = 0; i < SHELLS; i++) {
        if (strcmp(after, shells[i].name) < 0) {
            return shells[i].name;
        }
    }
    return NULL;
}

static int
completion(struct sim_cli *cli)
{
    for (size_t i = 0; i < SHELLS; i++) {
        if (strcmp(cli->arguments[0], shells[i].name) == 0) {
            put_script(&shells[i]);
            return SIM_EXIT_HELD;
        }
    }
    return sim_cli_fail(SIM_EXIT_USAGE, "there is no completion for %s: give bash, fish or zsh",
            cli->arguments[0]);
}

SIM_COMMAND(command, .name = "completion", .purpose = SIM_PURPOSE_DATA, .usage = "bash|fish|zsh",
        .about = "what a shell needs to complete command lines",
        .help = "In bash: source <(rewake completion bash). `make install` puts all where "
                "the shells find them.\n",
        .missing = "for which shell? Give bash, fish or zsh. Example: source <(rewake completion "
                   "bash)",
        .arguments_min = 1, .arguments_max = 1, .run = completion, .word = next_shell);
