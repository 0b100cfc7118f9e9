/*
 * recorder.c -- hashes of events, and the text beside them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h> /* Takes half the time with the widest vectors of the processor. */
#else
#include <xxhash.h>
#endif

#include "runtime/base/assert.h"
#include "sim/core/record/recorder.h"

void
sim_recorder_begin(struct sim_recorder *recorder, bool events, bool texts)
{
    rt_assert(recorder->memory.events_capacity >= SIM_CHUNK);
    rt_assert((recorder->memory.events_capacity & (recorder->memory.events_capacity - 1)) == 0);
    recorder->count = 0;
    recorder->over = UINT64_MAX;
    recorder->hash = 0;
    recorder->hashes = 0;
    recorder->texts = 0;
    recorder->bytes = 0;
    recorder->events_on = events;
    recorder->texts_on = texts;
    recorder->texts_lost = false;
}

void
sim_recorder_chunk(struct sim_recorder *recorder)
{
    rt_assert(recorder->count > 0);
    /* The ring holds whole chunks, so a chunk does not wrap. */
    uint64_t length = recorder->count & (SIM_CHUNK - 1);
    if (length == 0) {
        length = SIM_CHUNK;
    }
    uint64_t first = recorder->count - length;
    const struct sim_event *events =
            &recorder->memory.events[first & (recorder->memory.events_capacity - 1)];
    recorder->hash =
            XXH3_64bits_withSeed(events, length * sizeof(struct sim_event), recorder->hash);
    if (recorder->hashes < recorder->memory.hashes_capacity) {
        recorder->memory.hashes[recorder->hashes++] = recorder->hash;
    }
}

uint64_t
sim_recorder_end(struct sim_recorder *recorder, uint64_t decisions)
{
    if (!recorder->events_on) {
        return 0;
    }
    if (!sim_recorder_full(recorder)) {
        sim_recorder_chunk(recorder);
    }
    recorder->events_on = false;
    rt_assert(recorder->over == UINT64_MAX || recorder->over <= recorder->count);
    uint64_t words[3] = {recorder->hash, decisions, recorder->count};
    uint64_t digest = XXH3_64bits(words, sizeof(words));
    return digest != 0 ? digest : 1;
}

void
sim_record_text(struct sim_recorder *recorder, enum sim_text_kind kind, uint64_t key,
        const char *text, size_t length)
{
    if (!recorder->texts_on) {
        return;
    }
    if (kind != SIM_TEXT_EVENT && sim_recorder_text(recorder, kind, key) != NULL) {
        return;
    }
    struct sim_record_memory *memory = &recorder->memory;
    rt_assert(text != NULL);
    rt_assert(recorder->bytes <= memory->bytes_capacity);
    if (recorder->texts == memory->texts_capacity ||
            length >= memory->bytes_capacity - recorder->bytes) {
        recorder->texts_lost = true;
        return;
    }
    memory->texts[recorder->texts++] = (struct sim_text){
            .key = key,
            .kind = kind,
            .length = (uint32_t)length,
            .offset = recorder->bytes,
    };
    memcpy(memory->bytes + recorder->bytes, text, length);
    memory->bytes[recorder->bytes + length] = '\0';
    recorder->bytes += (uint32_t)length + 1;
}

const char *
sim_recorder_text(const struct sim_recorder *recorder, enum sim_text_kind kind, uint64_t key)
{
    for (uint32_t i = 0; i < recorder->texts; i++) {
        const struct sim_text *text = &recorder->memory.texts[i];
        if (text->kind == (uint32_t)kind && text->key == key) {
            return recorder->memory.bytes + text->offset;
        }
    }
    return NULL;
}

bool
sim_recorder_stack(const struct sim_recorder *recorder, uint32_t index, struct sim_stack *ret_stack)
{
    const struct sim_record_memory *memory = &recorder->memory;
    for (uint32_t i = 0; i < recorder->texts && i < memory->texts_capacity; i++) {
        const struct sim_text *text = &memory->texts[i];
        if (text->kind == SIM_TEXT_STACK && text->key == index &&
                text->length == sizeof(*ret_stack) && text->offset < memory->bytes_capacity &&
                memory->bytes_capacity - text->offset >= sizeof(*ret_stack)) {
            memcpy(ret_stack, memory->bytes + text->offset, sizeof(*ret_stack));
            return true;
        }
    }
    return false;
}

uint64_t
sim_recorder_first(const struct sim_recorder *recorder)
{
    uint64_t capacity = recorder->memory.events_capacity;
    return recorder->count > capacity ? recorder->count - capacity : 0;
}

const struct sim_event *
sim_recorder_event(const struct sim_recorder *recorder, uint64_t index)
{
    if (index >= recorder->count || index < sim_recorder_first(recorder)) {
        return NULL;
    }
    return &recorder->memory.events[index & (recorder->memory.events_capacity - 1)];
}

uint64_t
sim_recorder_run_end(const struct sim_recorder *recorder)
{
    if (recorder->over <= recorder->count) {
        return recorder->over;
    }
    const struct sim_event *last =
            recorder->count > 0 ? sim_recorder_event(recorder, recorder->count - 1) : NULL;
    bool ended = last != NULL && last->kind == SIM_EVENT_END;
    return ended ? recorder->count - 1 : recorder->count;
}
