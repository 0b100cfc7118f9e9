/*
 * output.c -- a line-buffered stream whose sink is the recorder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_INLINE_ALL
#include "sim/core/process/output.h"

#include <stdio_ext.h>
#include <string.h>
#include <sys/types.h>
#include <xxhash.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/world.h"

/* A longer line is cut into several. */
#define LINE_MAX_BYTES 512u
#define BUFFER_SIZE 4096u

/* Of the process. */
static struct {
    FILE *streams[SIM_OUTPUTS];
    bool program; /* They are a program's, and images put them back. */
    struct line {
        size_t used;
        char text[LINE_MAX_BYTES];
    } lines[SIM_OUTPUTS];
    char buffer[BUFFER_SIZE];
} output;

/* What the event has of the line; 0: nothing. */
static uint64_t
hash_of(const struct sim_world *world, enum sim_output_number number, const struct line *line)
{
    return world->program ? (uint64_t)XXH32(line->text, line->used, 0) << 8 | (number + 1) : 0;
}

static void
say_line(struct sim_world *world, enum sim_output_number number)
{
    struct line *line = &output.lines[number];
    sim_record_text(
            &world->recorder, SIM_TEXT_EVENT, world->recorder.count, line->text, line->used);
    sim_world_event(world, SIM_EVENT_OUT, 0, 0, 0, hash_of(world, number, line));
    line->used = 0;
}

void
sim_output_write(enum sim_output_number number, const char *bytes, size_t size)
{
    struct sim_world *world = sim_world_current;
    struct line *line = &output.lines[number];
    for (size_t i = 0; world != NULL && i < size; i++) {
        if (bytes[i] == '\n') {
            say_line(world, number);
            continue;
        }
        if (line->used == LINE_MAX_BYTES) {
            say_line(world, number);
        }
        line->text[line->used++] = bytes[i];
    }
}

/* The sinks. They never fail, nor does a scenario's printf. */
static ssize_t
take_out(void *cookie, const char *bytes, size_t size)
{
    (void)cookie;
    sim_output_write(SIM_OUTPUT_STDOUT, bytes, size);
    return (ssize_t)size;
}

static ssize_t
take_error(void *cookie, const char *bytes, size_t size)
{
    (void)cookie;
    sim_output_write(SIM_OUTPUT_STDERR, bytes, size);
    return (ssize_t)size;
}

static FILE *
open_sink(ssize_t (*sink)(void *, const char *, size_t), char *buffer, int how)
{
    const cookie_io_functions_t functions = {.write = sink};
    FILE *stream = sim_heap_must(fopencookie(NULL, "w", functions));
    (void)setvbuf(stream, buffer, how, buffer != NULL ? BUFFER_SIZE : 0);
    return stream;
}

void
sim_output_of_program(void)
{
    rt_assert(output.streams[SIM_OUTPUT_STDOUT] == NULL);
    output.program = true;
    output.streams[SIM_OUTPUT_STDOUT] = open_sink(take_out, sim_heap_new(BUFFER_SIZE, 1), _IOLBF);
    output.streams[SIM_OUTPUT_STDERR] = open_sink(take_error, NULL, _IONBF);
}

FILE *
sim_output_stream(enum sim_output_number number)
{
    return output.streams[number];
}

void
sim_output_init(void)
{
    if (output.program) {
        stderr = output.streams[SIM_OUTPUT_STDERR];
    } else if (output.streams[SIM_OUTPUT_STDOUT] == NULL) {
        output.streams[SIM_OUTPUT_STDOUT] = open_sink(take_out, output.buffer, _IOLBF);
    }
    stdout = output.streams[SIM_OUTPUT_STDOUT];
}

/* Not of a program, whose stream is put back. */
static void
flush(void)
{
    if (!output.program && output.streams[SIM_OUTPUT_STDOUT] != NULL) {
        (void)fflush(output.streams[SIM_OUTPUT_STDOUT]);
    }
}

void
sim_output_begin(void)
{
    /* Outside of a run, output that an early end has left in the stream is dropped. */
    struct sim_world *world = sim_world_current;
    sim_world_current = NULL;
    flush();
    sim_world_current = world;
    for (uint32_t i = 0; i < SIM_OUTPUTS; i++) {
        output.lines[i].used = 0;
    }
}

void
sim_output_end(void)
{
    struct sim_world *world = sim_world_current;
    if (world == NULL) {
        return;
    }
    flush();
    for (uint32_t i = 0; i < SIM_OUTPUTS; i++) {
        if (output.lines[i].used > 0) {
            say_line(world, i);
        }
    }
}

bool
sim_output_is_empty(void)
{
    FILE *out = output.streams[SIM_OUTPUT_STDOUT];
    return output.lines[SIM_OUTPUT_STDOUT].used == 0 && output.lines[SIM_OUTPUT_STDERR].used == 0 &&
           (output.program || out == NULL || __fpending(out) == 0);
}
