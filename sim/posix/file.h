/*
 * file.h -- an open file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_POSIX_FILE_H
#define SIM_POSIX_FILE_H

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

/* Opens what the program prints to, or its empty input: the lowest free number. */
int sim__posix_output_open(bool errors);
int sim__posix_input_open(void);

/* The program prints `size` bytes, to stderr or stdout (stdio.c). */
void sim__posix_print(bool errors, const char *bytes, size_t size);

/* The working directory: absolute, in the arena. */
const char *sim__posix_cwd(void);

#endif
