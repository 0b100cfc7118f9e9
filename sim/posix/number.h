/*
 * number.h -- descriptors by number: one table, on a fake host, for all that a program opens.
 *
 * The numbers begin at 0, as in a process: 0 is an empty input, 1 and 2 are what the program
 * prints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/host/fd_priv.h"
#include "sim/host/sys.h"
#include "sim/posix/state.h"

/* The table of the run. */
struct sim_fds *sim__posix_fds(void);

/* What is behind `fd`; NULL: it is not open. */
struct sim__description *sim__posix_description(int fd);

/* A call on `fd` (-1: on none) begins: signals that are pending may be delivered, another thread
 * may run. It is recorded when it returns. Returns the line of the program, for reports; NULL: not
 * known. */
const struct rt_site *sim__posix_begin(int fd);

/* What else is recorded of it: another descriptor or a small number, and one value in the place of
 * its result. */
void sim__posix_note(uint32_t second, uint64_t value);
/* It has opened these two. */
void sim__posix_note_pair(const int ends[2]);

/* A number was opened with these flags (O_NONBLOCK, O_CLOEXEC), or `number` is a negative errno:
 * returns what the call returns. */
int sim__posix_opened(int number, int flags);
