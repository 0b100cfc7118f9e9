/*
 * exit_flush.h -- a process writes its coverage counts, however it ends.
 *
 * gcov writes its counts when a process calls exit, and workers never do: they leave by _exit,
 * crash in a run, or are killed because a step does not return. In a build that counts (BUILD=cov:
 * lines; BUILD=edges: edges of a run, sim/search/cover/edges.h), or with a library that does, each
 * of these writes first; else nothing of this does anything.
 *
 * A library of scenarios that counts its lines has been linked with
 *
 *     --coverage -Wl,-u,__gcov_dump,-u,__gcov_reset
 *
 * Its counts are variables of the library, which are reset before each run
 * (core/memory/image.h), so they are written after each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <sys/types.h>

/* A library was loaded, dlopen's `handle`: if it counts, its counts are written too; only the first
 * eight such libraries have that. */
void sim_exit_flush_library(void *handle);

/* A run is over, and the next will reset what libraries have counted: writes that. */
void sim_exit_flush_run(void);

/* In a process that was just forked: forgets what its parent has counted, and can be asked from now
 * on. */
void sim_exit_flush_begin(void);

/* Writes all. What is counted afterwards is lost. Also called where a signal is handled. */
void sim_exit_flush(void);

/* The process `pid`, a child that is about to be killed, writes all and dies of SIGKILL; one that
 * has not after two seconds lives on. It is not reaped. */
void sim_exit_flush_ask(pid_t pid);
