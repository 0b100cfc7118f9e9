/*
 * refuse.h -- what no run of a program may do, by name.
 *
 * A call that is not played would bring chance into the run, or leave something behind. It ends the
 * run with verdict refused, which is no failure of the program: the sweep continues.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

/* Ends the run of the calling program: it called `name`, which is refused because of `why`. */
__attribute__((noreturn)) void sim_program_refuse(const char *name, const char *why);
