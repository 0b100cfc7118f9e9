/*
 * descriptors.h -- which open descriptors a run may find in its process.
 *
 * Those that rewake was started with, and those that a library opened while it was
 * loaded. The database and the lines to other workers are none of them: a run that writes to
 * every descriptor must not reach a file of rewake's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

/* What is open now stays open in workers. */
void sim_descriptors_keep(void);

/* Around a dlopen: what is open after it and was not before stays open too. */
void sim_descriptors_before_load(void);
void sim_descriptors_after_load(void);

/* In a worker: closes all others but `line`, and `other` (-1: none). Without sim_descriptors_keep:
 * none. */
void sim_descriptors_drop(int line, int other);

/* In a worker: the database's index, which SQLite maps and a fork inherits, is there no more. */
void sim_descriptors_drop_maps(void);
