/*
 * shared.c -- what processes would share by name: semaphores and memory. There is one process, and
 * they end with the run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/assert.h"
#include "sim/posix/file.h"
#include "sim/posix/number.h"

/* ---- Semaphores. ----------------------------------------------------------------------------- */

struct named {
    struct rt_list link; /* In state->semaphores. */
    const char *name;    /* "": it was unlinked. */
    sem_t semaphore;
};

static struct named *
named_of(struct rt_list *node)
{
    return rt_container_of(node, struct named, link);
}

static struct named *
find(const char *name)
{
    rt_list_each(node, &sim__posix_state()->semaphores)
    {
        if (strcmp(named_of(node)->name, name) == 0) {
            return named_of(node);
        }
    }
    return NULL;
}

/* 0, or the errno of a name: "/x", or "x", without another slash. */
static int
check(const char *name)
{
    const char *rest = name[0] == '/' ? name + 1 : name;
    if (rest[0] == '\0' || strchr(rest, '/') != NULL) {
        return EINVAL;
    }
    return strlen(rest) > NAME_MAX - 4 ? ENAMETOOLONG : 0;
}

static struct named *
add(const char *name, unsigned value)
{
    struct sim__posix *state = sim__posix_state();
    struct named *named = sim_new(state->world, struct named);
    size_t size = strlen(name) + 1;
    named->name = memcpy(sim_alloc(state->world, size), name, size);
    (void)sem_init(&named->semaphore, 0, value);
    rt_list_init(&named->link);
    rt_list_push_back(&state->semaphores, &named->link);
    return named;
}

sem_t *
sim__posix_sem_open(const char *name, int flags, mode_t mode, unsigned value)
{
    (void)mode;
    (void)sim__posix_begin(-1);
    const char *rest = name[0] == '/' ? name + 1 : name;
    struct named *there = find(rest);
    int error = check(name);
    if (error == 0 && there != NULL && (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) {
        error = EEXIST;
    }
    if (error == 0 && there == NULL) {
        error = (flags & O_CREAT) == 0 ? ENOENT : value > SEM_VALUE_MAX ? EINVAL : 0;
    }
    if (error != 0) {
        errno = error;
        return SEM_FAILED;
    }
    return &(there != NULL ? there : add(rest, value))->semaphore;
}

int
sim__posix_sem_close(sem_t *semaphore)
{
    rt_list_each(node, &sim__posix_state()->semaphores)
    {
        if (&named_of(node)->semaphore == semaphore) {
            return 0;
        }
    }
    return sim__posix_error(EINVAL);
}

int
sim__posix_sem_unlink(const char *name)
{
    struct named *named = find(name[0] == '/' ? name + 1 : name);
    if (named == NULL) {
        return sim__posix_error(ENOENT);
    }
    named->name = "";
    return 0;
}

/* ---- Memory. --------------------------------------------------------------------------------- */

/* The file of a shared memory; NULL: errno is set. */
static const char *
path_of(const char *name, char ret[SIM__POSIX_PATH])
{
    errno = check(name);
    (void)snprintf(ret, SIM__POSIX_PATH, "/dev/shm/%s", name[0] == '/' ? name + 1 : name);
    return errno == 0 ? ret : NULL;
}

int
sim__posix_shm_open(const char *name, int flags, mode_t mode)
{
    char path[SIM__POSIX_PATH];
    return path_of(name, path) != NULL ? sim__posix_open(path, flags | O_CLOEXEC, mode) : -1;
}

int
sim__posix_shm_unlink(const char *name)
{
    char path[SIM__POSIX_PATH];
    return path_of(name, path) != NULL ? sim__posix_unlink(path) : -1;
}

int
sim__posix_memfd_create(const char *name, unsigned flags)
{
    if (strlen(name) > 249 || (flags & ~(MFD_CLOEXEC | MFD_ALLOW_SEALING)) != 0) {
        return sim__posix_error(EINVAL);
    }
    bool closes = (flags & MFD_CLOEXEC) != 0;
    return sim__posix_open_inode(sim__posix_inode_nameless(), O_RDWR | (closes ? O_CLOEXEC : 0));
}
