/*
 * process.c -- fork in a run: refused, for a run is one process; close: noted.
 *
 * The program defines fork and its relatives itself. A child of a run would continue as a
 * second worker, with the same seed and the same memory; so inside a run they end it with
 * verdict contract, and in a program's run with refused. Outside of one they are the C library's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/process/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim/core/world.h"

static void
refuse_in_run(const char *name)
{
    struct sim_world *world = sim_world_current;
    if (world != NULL && world->program) {
        sim_stack_take(&world->outcome.stack);
        sim_fail(world, SIM_VERDICT_REFUSED, SIM_ORACLE_PROGRAM, world->current, 0,
                "%s() was called, which is not simulated: a run is one process", name);
    }
    if (world != NULL) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_PROCESS, world->current, 0,
                "%s() was called inside the run; a run is one process: have the host play the "
                "other",
                name);
    }
}

static pid_t
call_next(const char *name)
{
    pid_t (*next)(void) = NULL;
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(&next, &symbol, sizeof(next));
    if (next == NULL) {
        errno = ENOSYS;
        return -1;
    }
    return next();
}

pid_t
fork(void)
{
    refuse_in_run("fork");
    return call_next("fork");
}

pid_t
_Fork(void)
{
    refuse_in_run("_Fork");
    return call_next("_Fork");
}

/* Outside of a run it is fork: the child of vfork must not return from this function. */
pid_t
vfork(void)
{
    refuse_in_run("vfork");
    return call_next("fork");
}

/* ---- Descriptors: a run may close what it opened; the process holds more than that. ---------- */

static bool touched;

static void
note(void)
{
    touched = touched || sim_world_current != NULL;
}

bool
sim_process_descriptors_touched(void)
{
    bool was = touched;
    touched = false;
    return was;
}

int
sim_process_close(int fd)
{
    note();
    return (int)syscall(SYS_close, fd);
}

int
sim_process_dup2(int fd, int fd2)
{
    note();
    return (int)syscall(SYS_dup2, fd, fd2);
}

int
sim_process_dup3(int fd, int fd2, int flags)
{
    note();
    return (int)syscall(SYS_dup3, fd, fd2, flags);
}

int
sim_process_close_range(unsigned int first, unsigned int last, int flags)
{
    note();
    return (int)syscall(SYS_close_range, first, last, flags);
}

void
sim_process_closefrom(int first)
{
    (void)sim_process_close_range(first < 0 ? 0 : (unsigned int)first, ~0u, 0);
}
