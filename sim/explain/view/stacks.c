/*
 * stacks.c -- call stacks of threads, as text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/stacks.h"

#include "runtime/base/assert.h"
#include "sim/core/code/frames.h"

static void
put_frames(struct sim_page *page, const struct sim_stack *stack)
{
    struct sim_frames frames;
    char text[512];
    sim_frames_find(stack, &frames);
    rt_assert(frames.count <= SIM_FRAMES_MAX);
    for (uint32_t i = 0; i < frames.count; i++) {
        sim_frame_text(&frames.all[i], text, sizeof(text));
        sim_page_printf(page, "  #%u %s", i, text);
    }
    sim_page_printf(page, "%s\n", frames.count == 0 ? "  not in the program's own code" : "");
}

void
sim_stacks_put(struct sim_page *page, const struct sim_actor_table *actor_table)
{
    bool first = true;
    for (uint32_t part = 0; part < actor_table->count; part++) {
        struct sim_stack stack;
        const struct sim_part *each = &actor_table->parts[part];
        if (each->actor == 0 || each->name == NULL ||
                !sim_recorder_stack(actor_table->recorder, each->actor, &stack)) {
            continue;
        }
        sim_page_printf(page, "%s", first ? "Where each thread is:\n" : "");
        first = false;
        sim_page_printf(page, "  `%s`:", each->name);
        put_frames(page, &stack);
    }
}
