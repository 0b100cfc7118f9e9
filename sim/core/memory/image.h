/*
 * image.h -- the writable memory of loaded libraries, restored before each run.
 *
 * A user's library, and those that it links, may have global variables, through
 * which one run would affect the next. So after a load every writable segment of
 * every new module is copied, without what the loader has made read-only since
 * (RELRO), and with the thread-local block of this thread. Before each run the
 * copies are restored.
 *
 * A program (sim/program) also changes variables of libraries that rewake itself uses, the C
 * library's above all. These are shared parts: copied when a run is entered, and put back when it
 * is left, so that rewake finds what it left there. Between the two rewake allocates nothing from
 * the C library and uses none of its streams.
 *
 * Ownership. Of the process: images are taken by the parent before it forks, and a
 * worker inherits them. A module is never unloaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

/* Notes the modules that are loaded now. Called before dlopen. */
RT_MUST_CHECK rt_err sim_images_before_load(void);

/* Takes an image of every module loaded since, after its sites were numbered. RT_E_FULL: too
 * many variables. */
RT_MUST_CHECK rt_err sim_images_take(void);

/* Takes an image of `size` bytes at `start`, which are the program's, or shared. RT_E_FULL as
 * above. */
RT_MUST_CHECK rt_err sim_images_add(void *start, size_t size, bool shared);

/* From now on the variables of all libraries that were loaded before sim_images_before_load are
 * shared. Not the loader's: no run loads a library. */
RT_MUST_CHECK rt_err sim_images_share(void);

/* Whether a module of the program has thread-local variables; that with the loader's number. */
bool sim_images_have_tls(void);
bool sim_images_have_tls_of(size_t module);

/* Images that are not shared, in the order in which they were taken; restores some of them. */
struct sim_image_range {
    uint32_t first;
    uint32_t count;
};
uint32_t sim_images_count(void);
void sim_images_restore_some(struct sim_image_range range);

/* A run begins: restores all images, and copies what is shared. */
void sim_images_restore(void);

/* The code of the run is over: puts back what is shared. A second call: no-op. */
void sim_images_leave(void);

/* Calls visit(argument, memory, size) for each piece of writable memory with an image. */
void sim_images_each(
        void (*visit)(void *argument, const char *memory, size_t size), void *argument);

/* True when `address` is in that memory; *ret_offset is the same in each process that has loaded
 * the same libraries. */
bool sim_images_find(const void *address, size_t *ret_offset);

/* Bytes in all images. */
size_t sim_images_size(void);

/* Copy the current content of that memory (sim_images_size bytes), and restore it, for checkpoints;
 * restoring enters the run, as sim_images_restore does. Both return the end of the copy. What was
 * added after a copy is not in it, and stays. */
char *sim_images_copy_out(char *to);
const char *sim_images_copy_back(const char *from);
