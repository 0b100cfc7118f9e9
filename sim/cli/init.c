/*
 * init.c -- `rewake init`: becomes the script that begins a project, which is beside the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/heap.h"
#include "sim/cli/child.h"
#include "sim/cli/cli.h"

/* Installed, it has the program's name in its own; in the tree it is three folders up. */
static const char *const places[] = {"rewake-new-project", "../../scripts/new-project"};

static int
init(struct sim_cli *cli)
{
    const char *self = sim_child_self();
    const char *slash = self != NULL ? strrchr(self, '/') : NULL;
    int folder = slash != NULL ? (int)(slash - self) : 0;
    for (size_t i = 0; slash != NULL && i < sizeof(places) / sizeof(*places); i++) {
        char *script = sim_heap_printf("%.*s/%s", folder, self, places[i]);
        cli->arguments[-1] = script; /* Over the name of the command. */
        (void)execv(script, cli->arguments - 1);
        free(script);
    }
    return sim_cli_fail(SIM_EXIT_SYSTEM,
            "rewake-new-project, which is installed beside rewake, cannot be started: %s",
            strerror(errno));
}

SIM_COMMAND(command, .name = "init", .purpose = SIM_PURPOSE_FIND,
        .usage = "[--cpp] [--cmake|--meson] DIR\n--program ./PROG DIR",
        .about = "begin a project: scenarios, or a program as it is, with build and CI",
        .help = "DIR gets a scenario that fails and one that passes, in C or C++ (--cpp); a "
                "Makefile, "
                "or what CMake or Meson take; a README; and jobs for GitHub and GitLab. With "
                "--program, which DIR builds as it does now, only the jobs, and no file is "
                "overwritten.\n",
        .takes = SIM_TAKES_COMMAND, .arguments_max = UINT32_MAX, .run = init);
