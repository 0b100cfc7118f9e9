/*
 * output.c -- a line-buffered stream whose sink is the recorder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/process/output.h"

#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/types.h>

#include "sim/base/heap.h"
#include "sim/core/world.h"

/* A longer line is cut into several. */
#define LINE_MAX_BYTES 512u
#define BUFFER_SIZE 4096u

/* Of the process: there is one stdout. */
static struct {
    FILE *stream;
    size_t used;
    char line[LINE_MAX_BYTES];
    char buffer[BUFFER_SIZE];
} output;

static void
say_line(struct sim_world *world)
{
    sim_record_text(
            &world->recorder, SIM_TEXT_EVENT, world->recorder.count, output.line, output.used);
    sim_world_event(world, SIM_EVENT_OUT, 0, 0, 0, 0);
    output.used = 0;
}

/* The sink. It never fails, nor does a scenario's printf. */
static ssize_t
take(void *cookie, const char *bytes, size_t size)
{
    struct sim_world *world = sim_world_current;
    (void)cookie;
    for (size_t i = 0; world != NULL && i < size; i++) {
        if (bytes[i] == '\n') {
            say_line(world);
            continue;
        }
        if (output.used == LINE_MAX_BYTES) {
            say_line(world);
        }
        output.line[output.used++] = bytes[i];
    }
    return (ssize_t)size;
}

void
sim_output_init(void)
{
    if (output.stream == NULL) {
        const cookie_io_functions_t functions = {.write = take};
        output.stream = sim_heap_must(fopencookie(NULL, "w", functions));
        (void)setvbuf(output.stream, output.buffer, _IOLBF, sizeof(output.buffer));
        stdout = output.stream;
    }
}

void
sim_output_begin(void)
{
    if (output.stream == NULL) {
        return;
    }
    /* Outside of a run, output that an early end has left in the stream is dropped. */
    struct sim_world *world = sim_world_current;
    sim_world_current = NULL;
    (void)fflush(output.stream);
    sim_world_current = world;
    output.used = 0;
}

void
sim_output_end(void)
{
    struct sim_world *world = sim_world_current;
    if (output.stream == NULL || world == NULL) {
        return;
    }
    (void)fflush(output.stream);
    if (output.used > 0) {
        say_line(world);
    }
}

bool
sim_output_is_empty(void)
{
    return output.used == 0 && (output.stream == NULL || __fpending(output.stream) == 0);
}
