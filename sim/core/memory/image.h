/*
 * image.h -- the writable memory of loaded libraries, put back before each run.
 *
 * A user's library may hold global variables, and code below it that we never see
 * may too. What a run leaves in them would be the next run's past. So after a load
 * every writable segment of every module that came with it is copied, without what
 * the loader has made read-only since (RELRO), and the thread-local block of this
 * thread. Before each run the copies are put back.
 *
 * Ownership. Of the process: images are taken by the parent before it forks, and a
 * worker inherits them. A module is never unloaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_MEMORY_IMAGE_H
#define SIM_CORE_MEMORY_IMAGE_H

#include <stddef.h>

#include "runtime/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Remembers which modules are loaded now. Called before dlopen. */
RT_MUST_CHECK rt_err sim_images_before_load(void);

/* Takes an image of every module that was not there then, after its sites were numbered. RT_E_FULL:
 * no memory. */
RT_MUST_CHECK rt_err sim_images_take(void);

/* Puts everything back. */
void sim_images_restore(void);

/* Calls visit(argument, memory, size) for each piece of writable memory with an image. */
void sim_images_each(
        void (*visit)(void *argument, const char *memory, size_t size), void *argument);

/* Bytes in all images. */
size_t sim_images_size(void);

/* What stands in that memory now, copied (sim_images_size bytes) and put back: for a run that is
 * kept in its middle. Both return the end of the copy. */
char *sim_images_copy_out(char *to);
const char *sim_images_copy_back(const char *from);

#ifdef __cplusplus
}
#endif
#endif
