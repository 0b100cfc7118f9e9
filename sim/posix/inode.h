/*
 * inode.h -- the files that a run sees: those of the machine, and over them what it has written.
 *
 * A file of the machine is read whole when it is first opened; from then on the run has its own
 * copy. What the run writes, creates, renames or removes is in the list of its files alone, and
 * ends with it. A removed file of the machine stays in the list, as `gone`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <sys/stat.h>

#include "runtime/base/list.h"
#include "sim/posix/state.h"

enum sim__posix_file_kind {
    SIM__POSIX_REGULAR,
    SIM__POSIX_DIRECTORY,
    SIM__POSIX_NULL,   /* /dev/null */
    SIM__POSIX_ZERO,   /* /dev/zero */
    SIM__POSIX_RANDOM, /* /dev/random, /dev/urandom */
    SIM__POSIX_OUTPUT, /* What the program prints, … */
    SIM__POSIX_ERRORS, /* … and what it prints to stderr. */
    SIM__POSIX_LINK,   /* A symbolic link: its bytes are where it leads. */
    SIM__POSIX_SOCKET  /* Its bytes are the path that it was bound to. */
};

struct sim__posix_inode {
    struct rt_list link; /* In state->inodes, the oldest first. */
    enum sim__posix_file_kind kind;
    const char *path;              /* Absolute, without "." and ".."; "" once it has no name. */
    struct sim__posix_inode *same; /* This is one more name of that file; NULL: it is the file. */
    bool gone;                     /* There is no such file. */
    bool made;                     /* By the run: the machine has no such file. */
    bool mapped;                   /* Its bytes are in a mapping, and stay where they are. */
    mode_t mode;                   /* Permission bits. */
    ino_t number;
    uint64_t changed_ns;
    bool timed; /* Its times are `times` (accessed, modified), until it changes. */
    struct timespec times[2];
    char *bytes;
    size_t size;
    size_t capacity;
};

/* The longest path, with its end. */
#define SIM__POSIX_PATH 4096u

/* Writes `path`, taken from the directory `from` (NULL: the working directory) where it is
 * relative, into `ret`. False: it is too long. */
bool sim__posix_path(const char *from, const char *path, char ret[SIM__POSIX_PATH]);

/* The file at an absolute `path`; NULL: there is none, with the reason in *ret_error. */
struct sim__posix_inode *sim__posix_inode(const char *path, int *ret_error);

/* A new, empty file at `path`, in place of one that is gone; NULL: its directory does not exist. */
struct sim__posix_inode *sim__posix_inode_new(
        const char *path, enum sim__posix_file_kind kind, mode_t mode);

/* What has the name `path` in the list of the run, also as `gone` or as a link; NULL: nothing. */
struct sim__posix_inode *sim__posix_named(const char *path);

/* The file with that number; NULL: there is none. */
const struct sim__posix_inode *sim__posix_inode_by(ino_t number);

/* A file without a name. */
struct sim__posix_inode *sim__posix_inode_nameless(void);

/* One more name of `inode`, where no file is. False: its directory does not exist. */
bool sim__posix_name(struct sim__posix_inode *inode, const char *path);

/* From now on there is no file at `path`; its other names stay. */
void sim__posix_unname(const char *path);

/* Makes it `size` bytes long; new ones are 0. False: too large. */
bool sim__posix_inode_resize(struct sim__posix_inode *inode, uint64_t size);

/* The file at `from` is at `to` instead, in place of what is there. False: the directory does not
 * exist. */
bool sim__posix_rename_to(const char *from, const char *to);

/* Makes its bytes whole pages, at least `size`, which never move again; it may not outgrow them. */
void sim__posix_inode_map(struct sim__posix_inode *inode, size_t size);

/* Whether `path` is in a folder that differs from process to process, of which the run sees a few
 * files that are the same everywhere. */
bool sim__posix_of_process(const char *path);

void sim__posix_inode_stat(const struct sim__posix_inode *inode, struct stat *ret);

/* Of a file of the machine that the run reads: its path, and what is in it. Set by what keeps
 * hashes of them; NULL: not noted. */
extern void (*sim__posix_on_file)(const char *path, const char *bytes, size_t size);
