/*
 * last_words.h -- what a process has counted is written, however it ends.
 *
 * gcov writes its counts when a process calls exit, and workers never do: they leave by _exit,
 * crash in a run, or are killed because a step does not return. In a build that counts (BUILD=cov:
 * lines; BUILD=edges: edges of a run, sim/cover/edges.h) each of these writes first; in any other
 * build nothing of this does anything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLORE_WORKER_LAST_WORDS_H
#define SIM_EXPLORE_WORKER_LAST_WORDS_H

#include <sys/types.h>

/* Of a process that was just forked: what its parent has counted is the parent's, and from here on
 * it can be asked. */
void sim_last_words_begin(void);

/* Writes all. What is counted afterwards is lost. Also called where a signal is handled. */
void sim_last_words(void);

/* The process `pid`, a child that is about to be killed, writes all and dies of SIGKILL; one that
 * has not after two seconds lives on. It is not reaped. */
void sim_last_words_ask(pid_t pid);

#endif
