/*
 * file.h -- an open file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/host/fd_priv.h"
#include "sim/posix/inode.h"

struct sim__posix_file {
    struct sim__description description;
    struct sim__posix_inode *inode;
    int flags; /* O_… as it was opened with. */
    uint64_t place;
};

/* The file behind `fd`; NULL: not open, or no file. */
struct sim__posix_file *sim__posix_file(int fd);

/* Opens a file: the lowest free number, or -1. `flags`: O_…. */
int sim__posix_open_inode(struct sim__posix_inode *inode, int flags);

/* The path, or the file, of an `at` function; NULL: errno is set. */
const char *sim__posix_path_at(int folder, const char *path, char ret[SIM__POSIX_PATH]);
struct sim__posix_inode *sim__posix_inode_at(int folder, const char *path);

/* Fills *ret where `path` is a symbolic link (link.c). */
bool sim__posix_stat_link(int folder, const char *path, struct stat *ret);

/* Whether nothing is in the directory `path` (directory.c). */
bool sim__posix_is_empty(const char *path);

/* Opens what the program prints to, or its empty input: the lowest free number. */
int sim__posix_output_open(bool errors);
int sim__posix_input_open(void);

/* The program prints `size` bytes, to stderr or stdout (stdio.c). */
void sim__posix_print(bool errors, const char *bytes, size_t size);

/* The working directory: absolute, in the arena. */
const char *sim__posix_cwd(void);
