/*
 * descriptors.c -- a mask of descriptors, and closing what is not in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/worker/descriptors.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
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

static bool
is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

void
sim_descriptors_keep(void)
{
    descriptors.known = true;
    for (int fd = 0; fd < KEPT_MAX; fd++) {
        descriptors.kept[fd] = is_open(fd);
    }
}

void
sim_descriptors_before_load(void)
{
    for (int fd = 0; fd < KEPT_MAX; fd++) {
        descriptors.before[fd] = is_open(fd);
    }
}

void
sim_descriptors_after_load(void)
{
    for (int fd = 0; fd < KEPT_MAX; fd++) {
        if (!descriptors.before[fd] && is_open(fd)) {
            descriptors.kept[fd] = true;
        }
    }
}

/* Closes those from `first` up to `fd`, and answers where to go on. */
static unsigned
spare(unsigned first, int fd)
{
    if (fd < 0 || (unsigned)fd < first) {
        return first;
    }
    if ((unsigned)fd > first) {
        (void)close_range(first, (unsigned)fd - 1, 0);
    }
    return (unsigned)fd + 1;
}

void
sim_descriptors_drop(int line, int other)
{
    unsigned first = STDERR_FILENO + 1;
    rt_assert(line >= 0);
    if (!descriptors.known) {
        return;
    }
    for (unsigned fd = first; fd < KEPT_MAX; fd++) {
        if (!descriptors.kept[fd] && fd != (unsigned)line && (int)fd != other) {
            continue;
        }
        if (fd > first) {
            (void)close_range(first, fd - 1, 0);
        }
        first = fd + 1;
    }
    int lower = other < line ? other : line;
    first = spare(first, lower);
    first = spare(first, lower == line ? other : line);
    (void)close_range(first, UINT_MAX, 0);
}

/* "7f0012340000-7f0012348000 rw-s 00000000 08:01 123  /home/me/.rewake/trace.db-shm" */
static void
drop_map(const char *text)
{
    uintptr_t from = 0;
    uintptr_t to = 0;
    char access[8] = "";
    bool read = sscanf(text, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to, access) == 3;
    if (read && strcmp(access, "rw-s") == 0 && strstr(text, "-shm") != NULL) {
        (void)munmap((void *)from, to - from);
    }
}

void
sim_descriptors_drop_maps(void)
{
    char text[PATH_MAX + 128];
    FILE *maps = fopen("/proc/self/maps", "re");
    if (maps == NULL) {
        return;
    }
    while (fgets(text, sizeof(text), maps) != NULL) {
        drop_map(text);
    }
    (void)fclose(maps);
}
