/*
 * draws.c -- the choices of a number, without a run; the memory where a run notes its draws.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/decide/draws.h"

#include <stddef.h>
#include <sys/mman.h>

#include "runtime/base/assert.h"
#include "sim/core/decide/choice.h"

struct sim_draws *
sim_draws_new(void)
{
    void *memory = mmap(NULL, sizeof(struct sim_draws), PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

void
sim_draws_free(struct sim_draws **draws)
{
    if (*draws != NULL) {
        (void)munmap(*draws, sizeof(**draws));
        *draws = NULL;
    }
}

/* As by_halves in draw.c decides. */
static uint32_t
put_halves(uint64_t lo, uint64_t hi, uint64_t value, struct sim_draw_choice *ret)
{
    uint32_t count = 0;
    while (hi - lo >= SIM_ALTERNATIVES_MAX) {
        uint64_t middle = lo + (hi - lo) / 2;
        bool upper = value > middle;
        ret[count++] = (struct sim_draw_choice){2, upper};
        hi = upper ? hi : middle;
        lo = upper ? middle + 1 : lo;
    }
    ret[count++] = (struct sim_draw_choice){(uint8_t)(hi - lo + 1), (uint8_t)(value - lo)};
    rt_assert(count < SIM_DRAW_CHOICES_MAX); /* The caller adds the class. */
    return count;
}

/* The number of class `nth`, none for the last. */
static uint64_t
of_class(enum sim_draw_form form, uint64_t lo, uint64_t hi, uint32_t nth)
{
    const uint64_t range[] = {lo, hi, lo + (hi - lo) / 2, lo + 1};
    const uint64_t length[] = {hi, 1, hi / 2, hi - 1};
    return form == SIM_DRAW_LENGTH ? length[nth] : range[nth];
}

uint32_t
sim_draw_choices(enum sim_draw_form form, uint64_t lo, uint64_t hi, uint64_t value,
        struct sim_draw_choice ret[SIM_DRAW_CHOICES_MAX])
{
    bool down = form == SIM_DRAW_LENGTH; /* lo is 1 then. */
    bool few = hi - lo < SIM_DRAW_CLASSES;
    if (value < lo || value > hi || (form == SIM_DRAW_PICK && hi - lo >= SIM_ALTERNATIVES_MAX)) {
        return 0;
    }
    if (form == SIM_DRAW_PICK || few) {
        uint64_t index = down ? hi - value : value - lo;
        ret[0] = (struct sim_draw_choice){(uint8_t)(hi - lo + 1), (uint8_t)index};
        return 1;
    }
    for (uint32_t nth = 0; nth + 1 < SIM_DRAW_CLASSES; nth++) {
        if (of_class(form, lo, hi, nth) == value) {
            ret[0] = (struct sim_draw_choice){SIM_DRAW_CLASSES, (uint8_t)nth};
            return 1;
        }
    }
    ret[0] = (struct sim_draw_choice){SIM_DRAW_CLASSES, SIM_DRAW_CLASSES - 1};
    return 1 + put_halves(lo, hi, value, ret + 1);
}
