/*
 * image.h -- the writable memory of loaded libraries, restored before each run.
 *
 * A user's library, and those that it links, may have global variables, through
 * which one run would affect the next. So after a load every writable segment of
 * every new module is copied, without what the loader has made read-only since
 * (RELRO), and with the thread-local block of this thread. Before each run the
 * copies are restored.
 *
 * Ownership. Of the process: images are taken by the parent before it forks, and a
 * worker inherits them. A module is never unloaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_MEMORY_IMAGE_H
#define SIM_CORE_MEMORY_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Notes the modules that are loaded now. Called before dlopen. */
RT_MUST_CHECK rt_err sim_images_before_load(void);

/* Takes an image of every module loaded since, after its sites were numbered. RT_E_FULL: too
 * many variables. */
RT_MUST_CHECK rt_err sim_images_take(void);

/* Restores all images. */
void sim_images_restore(void);

/* Calls visit(argument, memory, size) for each piece of writable memory with an image. */
void sim_images_each(
        void (*visit)(void *argument, const char *memory, size_t size), void *argument);

/* True when `address` is in that memory; *ret_offset is the same in each process that has loaded
 * the same libraries. */
bool sim_images_find(const void *address, size_t *ret_offset);

/* Bytes in all images. */
size_t sim_images_size(void);

/* Copy the current content of that memory (sim_images_size bytes), and restore it, for checkpoints.
 * Both return the end of the copy. */
char *sim_images_copy_out(char *to);
const char *sim_images_copy_back(const char *from);

#ifdef __cplusplus
}
#endif
#endif
