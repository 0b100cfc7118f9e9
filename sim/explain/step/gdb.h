/*
 * gdb.h -- gdb around a replay, and where crashed ones leave their cores.
 *
 * The program under gdb is rewake itself, as `replay … --here --step N`: it makes the
 * run in its own process and traps as the step is about to be taken (sim/core/process/trap.c).
 * The commands for it are a script, scripts/gdb/rewake.py in the tree,
 * share/rewake/gdb/rewake.py beside an installed bin/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SIM_GDB_PATH_MAX 4096u
#define SIM_GDB_ERROR_MAX (SIM_GDB_PATH_MAX + 256u)

/* The replay, in the words of the command line. */
struct sim_gdb_replay {
    const char *library; /* NULL: none. */
    const char *subject;
    const char *db; /* NULL: none was named. */
    bool lenient;
    uint64_t step;
};

/* Becomes gdb. Comes back when that cannot be, with one line in `ret_error`. */
void sim_gdb_exec(const struct sim_gdb_replay *replay, char ret_error[SIM_GDB_ERROR_MAX]);

/* Where the script is; false: nowhere, and ret_path is where it should be. */
bool sim_gdb_script(char ret_path[SIM_GDB_PATH_MAX]);

/* Says where the core of process `pid` lies, as the system is set up: a sentence's end such as
 * "core.123" or "with systemd-coredump". */
void sim_gdb_core(pid_t pid, char *ret_text, size_t size);
