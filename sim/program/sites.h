/*
 * sites.h -- the line of each call that a program makes of rewake.
 *
 * An unchanged program has no macros that name its lines; it has the return address of each call.
 * After it was loaded, its code and that of the libraries that came with it is searched once for
 * calls of functions that rewake defines, and for jumps to them (the last call of a function),
 * whose callers count instead. Each such call becomes a site:
 *
 *      with debug information     file, function and line, of the innermost function that is not of
 *                                 the system's headers: a std::mutex is locked where it is used
 *      without                    library, function and offset: `libuv.so.1` `uv_run+0x1a3`; where
 *                                 no symbol covers it, the offset in the library
 *
 * Sites are numbered as those of macros are (sim/core/record/site.h), so their ids survive a new
 * build and are the same in every process. A call from elsewhere, through a pointer to a function
 * for instance, has none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/base/probe.h"

/* Reads the modules that were loaded since the last call, and not those with which rewake began.
 * Called in the process that starts workers, outside of runs. */
void sim_sites_load(void);

/* The site of the call that returns to `pc`; NULL: not known. A look-up in a table. */
const struct rt_site *sim_site_of(const void *pc);
