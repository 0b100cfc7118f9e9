/*
 * site.h -- numbers for the source locations that probes name.
 *
 * At load, every record of the linker section "rt_sites" gets an id made from the
 * file's last path component, the function and the n-th site in that function:
 * the same in every build of the same source, with other addresses and with other
 * line numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>

#include "runtime/base/probe.h"

/* Numbers the records [start, stop) and remembers them for sim_site_find. */
void sim_sites_add(struct rt_site *start, struct rt_site *stop);

/* Numbers the program's own. Called once before anything runs. */
void sim_sites_init(void);

/* The site with `id`, or NULL. Where several have it, as a library has a file with the name of one
 * of the program: the one added last. */
const struct rt_site *sim_site_find(uint32_t id);

/* The number of a line that no probe names; the same for equal lines. It is known to
 * sim_site_find from now on, in this process. */
uint32_t sim_sites_line(const char *file, const char *function, uint32_t line);

/* Calls `visit` for every site, once for each id, in order of id. */
void sim_sites_each(void (*visit)(const struct rt_site *site, void *argument), void *argument);

/* Whether it is a line of the runtime or of the simulator, compiled into this program. */
bool sim_site_is_own(const struct rt_site *site);

/* The last component of site->file. */
const char *sim_site_file(const struct rt_site *site);
