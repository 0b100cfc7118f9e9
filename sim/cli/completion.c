/*
 * completion.c -- `rewake completion`: what a shell needs to complete command lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/completion.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/decide/options.h"
#include "sim/search/strategy.h"

static bool
is_any(const char *text, const char *a, const char *b, const char *c)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

bool
sim_completes_file(const struct sim_cli_option_text *option)
{
    return option->argument != NULL && is_any(option->argument, "FILE", "PATH", "DIR");
}

bool
sim_completion_has_values(enum sim_cli_option option)
{
    return option == SIM_CLI_OPTION_STRATEGY || option == SIM_CLI_OPTION_OPTION ||
           option == SIM_CLI_OPTION_RECORD;
}

void
sim_completion_put_values(enum sim_cli_option option)
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

void
sim_completion_put_words(const struct sim_command *command)
{
    if (command->word != NULL) {
        for (const char *word = command->word(""); word != NULL; word = command->word(word)) {
            rt_assert(strpbrk(word, " '\"\\") == NULL);
            (void)printf("%s ", word);
        }
    }
}

/* ---- The command. ---------------------------------------------------------------------------- */

static const char *
next_shell(const char *shell)
{
    return strcmp(shell, "bash") < 0 ? "bash" : strcmp(shell, "zsh") < 0 ? "zsh" : NULL;
}

static int
completion(struct sim_cli *cli)
{
    if (strcmp(cli->arguments[0], "bash") == 0) {
        sim_completion_bash();
    } else if (strcmp(cli->arguments[0], "zsh") == 0) {
        sim_completion_zsh();
    } else {
        return sim_cli_fail(SIM_EXIT_USAGE, "there is no completion for %s: give bash or zsh",
                cli->arguments[0]);
    }
    return SIM_EXIT_HELD;
}

SIM_COMMAND(command, .name = "completion", .usage = "bash|zsh",
        .about = "what a shell needs to complete command lines",
        .help = "In bash: source <(rewake completion bash). `make install` puts both where "
                "the shells find them.\n",
        .missing = "for which shell? Give bash or zsh. Example: source <(rewake completion bash)",
        .options = SIM_CLI_OPTION_BIT(HELP), .arguments_min = 1, .arguments_max = 1,
        .run = completion, .word = next_shell);
