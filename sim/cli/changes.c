/*
 * changes.c -- inotify on the folder, and the section table of the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/changes.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

/* Time without an event. */
#define STILL_MS 150
/* So many such times in a row without a whole file. */
#define PATIENCE 20
/* Between two checks for a folder that is gone. */
#define LOOK_MS 200

#define HAPPENS \
    (IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_MOVED_FROM | \
            IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

static void
look_for_folder(struct sim_changes *changes)
{
    if (changes->watch < 0) {
        changes->watch = inotify_add_watch(changes->fd, changes->folder, HAPPENS);
    }
}

bool
sim_changes_init(struct sim_changes *changes, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    int length = snprintf(changes->folder, sizeof(changes->folder), "%.*s",
            slash != NULL ? (int)(slash - path) : 1, slash != NULL ? path : ".");
    if (slash == path) {
        (void)snprintf(changes->folder, sizeof(changes->folder), "/");
    }
    if (length < 0 || (size_t)length >= sizeof(changes->folder) ||
            strlen(name) >= sizeof(changes->name)) {
        errno = ENAMETOOLONG;
        return false;
    }
    (void)snprintf(changes->name, sizeof(changes->name), "%s", name);
    (void)snprintf(changes->path, sizeof(changes->path), "%s/%s", changes->folder, changes->name);
    changes->watch = -1;
    changes->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (changes->fd < 0) {
        return false;
    }
    look_for_folder(changes);
    return true;
}

void
sim_changes_fini(struct sim_changes *changes)
{
    if (changes->fd >= 0) {
        (void)close(changes->fd);
        changes->fd = -1;
    }
}

/* Takes the events in the buffer. True: one was about the file, or about the folder as a whole. */
static bool
take(struct sim_changes *changes, const char *bytes, size_t size)
{
    bool ours = false;
    for (size_t at = 0; at + sizeof(struct inotify_event) <= size;) {
        struct inotify_event event;
        memcpy(&event, bytes + at, sizeof(event));
        const char *name = bytes + at + sizeof(event);
        bool gone = (event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0;
        if (gone && changes->watch >= 0) {
            (void)inotify_rm_watch(changes->fd, changes->watch);
            changes->watch = -1;
        }
        ours = ours || gone || (event.mask & IN_Q_OVERFLOW) != 0 ||
               (event.len > 0 && strcmp(name, changes->name) == 0);
        at += sizeof(event) + event.len;
    }
    return ours;
}

static bool
read_events(struct sim_changes *changes)
{
    char bytes[8192];
    bool ours = false;
    ssize_t got = 0;
    while ((got = read(changes->fd, bytes, sizeof(bytes))) > 0) {
        ours = take(changes, bytes, (size_t)got) || ours;
    }
    return ours;
}

bool
sim_changes_heard(struct sim_changes *changes, int timeout_ms)
{
    if (changes->watch < 0) {
        (void)poll(NULL, 0, timeout_ms < LOOK_MS ? timeout_ms : LOOK_MS);
        look_for_folder(changes);
        /* Events before the watch were lost. */
        return changes->watch >= 0 && access(changes->path, F_OK) == 0;
    }
    struct pollfd fd = {.fd = changes->fd, .events = POLLIN};
    return poll(&fd, 1, timeout_ms) == 1 && read_events(changes);
}

/* The loader refuses what is not an ELF file of 64 bits. */
static bool
is_whole(const Elf64_Ehdr *head, ssize_t got, off_t size)
{
    bool elf = got >= SELFMAG && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0;
    if (!elf || (got > EI_CLASS && head->e_ident[EI_CLASS] != ELFCLASS64)) {
        return got > 0;
    }
    /* The table of sections comes last. */
    return got == (ssize_t)sizeof(*head) &&
           head->e_shoff + (uint64_t)head->e_shnum * head->e_shentsize <= (uint64_t)size;
}

bool
sim_changes_is_whole(const struct sim_changes *changes)
{
    Elf64_Ehdr head;
    struct stat status;
    int fd = open(changes->path, O_RDONLY | O_CLOEXEC);
    bool whole = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                 is_whole(&head, read(fd, &head, sizeof(head)), status.st_size);
    if (fd >= 0) {
        (void)close(fd);
    }
    return whole;
}

bool
sim_changes_settle(struct sim_changes *changes)
{
    for (int still = 0; still < PATIENCE; still++) {
        errno = 0;
        if (sim_changes_heard(changes, STILL_MS)) {
            still = -1; /* It is being written. */
        } else if (errno == EINTR) {
            return false;
        } else if (sim_changes_is_whole(changes)) {
            return true;
        }
    }
    return false;
}
