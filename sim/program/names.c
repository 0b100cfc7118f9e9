/*
 * names.c -- call sites and variables, for sim/thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/program/names.h"

#include "sim/core/code/variables.h"
#include "sim/program/sites.h"
#include "sim/thread/thread.h"

void
sim_program_names_load(void)
{
    sim_sites_load();
    sim_thread_site_of = sim_site_of;
    sim_thread_name_of = sim_variable_name;
}
