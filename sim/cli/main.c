/*
 * main.c -- where the program begins.
 *
 * Alone in its file, so that test programs may have everything else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/cli.h"

int
main(int count, char **arguments)
{
    return sim_cli_main(count, arguments);
}
