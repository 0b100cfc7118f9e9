/*
 * draws.h -- the numbers that a run drew, and the choices that make up each.
 *
 * On the tape a number is one or several choices (draws.c): 700,000 of 0 .. 1,000,000 are fifteen,
 * of which those answered 0 have no entry. To minimize or report a number one has to know where
 * it begins and ends: a run notes it where `sim_world.draws` is set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SIM_DRAWS_MAX 512u
#define SIM_DRAW_CHOICES_MAX 64u
#define SIM_DRAW_FRAMES 12u
#define SIM_DRAW_CLASSES 5u

/* How the choices make a number. */
enum sim_draw_form {
    SIM_DRAW_PICK,  /* One choice: lo + index. */
    SIM_DRAW_RANGE, /* sim_actor_range */
    SIM_DRAW_LENGTH /* sim_actor_length: hi is the baseline */
};

struct sim_number {
    uint32_t stream;
    uint32_t ordinal; /* Of its first choice in the stream, … */
    uint32_t choices; /* … and how many there are. */
    uint8_t kind;     /* enum sim_kind */
    uint8_t form;     /* enum sim_draw_form */
    uint64_t lo;
    uint64_t hi;
    uint64_t value;
};

struct sim_draws {
    uint32_t count; /* Draws beyond SIM_DRAWS_MAX are not noted. */
    struct sim_number all[SIM_DRAWS_MAX];
    /* With `asks`: the number with choices at `ordinal` of `stream`, and where it was drawn. */
    bool asks;
    uint32_t stream;
    uint32_t ordinal;
    bool found;
    struct sim_number asked;
    uint64_t asked_step;               /* 0: before the first step. */
    uintptr_t frames[SIM_DRAW_FRAMES]; /* Return addresses, innermost first. */
    uint32_t frame_count;
};

/* Memory shared with processes that are forked from now on. */
struct sim_draws *sim_draws_new(void);
void sim_draws_free(struct sim_draws **draws);

struct sim_draw_choice {
    uint8_t n;
    uint8_t index;
};

/*
 * The choices that make `value` (lo .. hi), in the shortest form. Returns how many were written to
 * `ret`; 0: `value` is out of range.
 */
uint32_t sim_draw_choices(enum sim_draw_form form, uint64_t lo, uint64_t hi, uint64_t value,
        struct sim_draw_choice ret[SIM_DRAW_CHOICES_MAX]);

struct sim_actor;

/* Notes what `actor` has just drawn: the choices from drawn->ordinal on. */
void sim__note_drawn(struct sim_actor *actor, const struct sim_number *drawn);
