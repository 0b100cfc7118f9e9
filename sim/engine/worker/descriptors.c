/*
 * descriptors.c -- a mask of descriptors, and closing what is not in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/worker/descriptors.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/assert.h"

/* Higher ones are closed. */
#define KEPT_MAX 1024

/* Of the process: there is one table of descriptors. */
static struct {
    bool known;
    bool kept[KEPT_MAX];
    bool before[KEPT_MAX];
} descriptors;

/* Which are open: asked for all at once, or, where the system's limit is lower, one by one. */
static void
list_open(bool ret_open[KEPT_MAX])
{
    struct pollfd fds[KEPT_MAX];
    for (int fd = 0; fd < KEPT_MAX; fd++) {
        fds[fd] = (struct pollfd){.fd = fd};
    }
    bool listed = poll(fds, KEPT_MAX, 0) >= 0;
    for (int fd = 0; fd < KEPT_MAX; fd++) {
        ret_open[fd] = listed ? (fds[fd].revents & POLLNVAL) == 0 : fcntl(fd, F_GETFD) >= 0;
    }
}

void
sim_descriptors_keep(void)
{
    descriptors.known = true;
    list_open(descriptors.kept);
}

void
sim_descriptors_before_load(void)
{
    list_open(descriptors.before);
}

void
sim_descriptors_after_load(void)
{
    bool after[KEPT_MAX];
    list_open(after);
    for (int fd = 0; fd < KEPT_MAX; fd++) {
        descriptors.kept[fd] = descriptors.kept[fd] || (after[fd] && !descriptors.before[fd]);
    }
}

void
sim_descriptors_drop(int line, int other)
{
    rt_assert(line > STDERR_FILENO);
    rt_assert(other != line);
    unsigned first = STDERR_FILENO + 1;
    unsigned last = (unsigned)(other > line ? other : line);
    last = last < KEPT_MAX ? KEPT_MAX : last;
    for (unsigned fd = first; descriptors.known && fd <= last; fd++) {
        bool kept = fd < KEPT_MAX && descriptors.kept[fd];
        if (kept || fd == (unsigned)line || (int)fd == other) {
            if (fd > first) {
                (void)close_range(first, fd - 1, 0);
            }
            first = fd + 1;
        }
    }
    if (descriptors.known) {
        (void)close_range(first, UINT_MAX, 0);
    }
}

/* "7f0012340000-7f0012348000 rw-s 00000000 08:01 123  /home/me/.rewake/trace.db-shm" */
static void
drop_map(const char *text)
{
    rt_assert(text != NULL);
    uintptr_t from = 0;
    uintptr_t to = 0;
    char access[8] = "";
    if (strstr(text, "-shm") != NULL &&
            sscanf(text, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to, access) == 3 &&
            strcmp(access, "rw-s") == 0) {
        (void)munmap((void *)from, to - from);
    }
}

void
sim_descriptors_drop_maps(void)
{
    char text[PATH_MAX + 128];
    static char buffer[PATH_MAX];
    FILE *maps = fopen("/proc/self/maps", "re");
    if (maps == NULL) {
        return;
    }
    /* The system's own block size is 1 kB, and each read costs it a search. */
    (void)setvbuf(maps, buffer, _IOFBF, sizeof(buffer));
    while (fgets(text, sizeof(text), maps) != NULL) {
        drop_map(text);
    }
    (void)fclose(maps);
}
