/*
 * excerpts.h -- the lines of source that go into the database with an explanation.
 *
 * They are kept when a failure is explained, as a file may be edited before its report is read: the
 * lines around each place that the explanation names, and that of each call of the run.
 *
 * Ownership. The lines own their texts; names of files are borrowed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/record/recorder.h"
#include "sim/store/explained.h"

#define SIM_EXCERPT_AROUND 5u

struct sim_excerpts {
    struct sim_explained_line *lines; /* By file, then line. */
    uint32_t count;
    uint32_t capacity;
};

/* Reads those of the places and of the run. A file that is not there, or newer than `program` that
 * was made of it, has none. sim_excerpts_free must follow. */
void sim_excerpts_read(struct sim_excerpts *excerpts, const struct sim_explained_place *places,
        uint32_t places_count, const struct sim_recorder *recorder, const char *program);
void sim_excerpts_free(struct sim_excerpts *excerpts);
