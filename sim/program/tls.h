/*
 * tls.h -- thread-local variables of an executable.
 *
 * An executable finds them below the thread pointer without asking anything (local-exec): where its
 * own block would be lies that of rewake's executable. So that has a reserve there, in each thread,
 * and nothing else. A program's block is put into it.
 *
 *      … | reserve                       | thread pointer: the thread's descriptor
 *        |          … | program's block  |
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_PROGRAM_TLS_H
#define SIM_PROGRAM_TLS_H

#include "sim/program/load.h"

#define SIM_TLS_RESERVE ((size_t)64 << 10)

/* Whether the block of `program` fits. */
bool sim_tls_fits(const struct sim_program *program);

/* Writes the block as a new thread finds it, for the thread whose thread pointer is `pointer`. */
void sim_tls_fill(const struct sim_program *program, uintptr_t pointer);

/* The calling thread's. */
uintptr_t sim_tls_pointer(void);

#endif
