/*
 * frames.c -- which frames are the user's, and their names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/code/frames.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/own.h"
#include "sim/core/code/symbols.h"

/* ---- The modules of this process. ------------------------------------------------------------ */

/* Of the process: debug information is read once, and again when a library was loaded. */
static struct {
    struct sim_places *places;
    unsigned long long loads;
    /* What was found last: the runs of a search that crash mostly crash in one place, and to find
     * it took five times as long as the run. */
    struct sim_stack stack;
    struct sim_frames frames;
} known;

static int
count_loads(struct dl_phdr_info *info, size_t size, void *argument)
{
    unsigned long long *loads = argument;
    (void)size;
    *loads = info->dlpi_adds;
    return 1;
}

/* NULL: there is no debug information. */
static struct sim_places *
places_now(void)
{
    unsigned long long loads = 0;
    (void)dl_iterate_phdr(count_loads, &loads);
    if (known.places == NULL || known.loads != loads) {
        sim_places_free(&known.places);
        known.places = sim_places_new();
        known.loads = loads;
        known.stack.count = 0;
    }
    return known.places;
}

static bool
begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

enum owner { SYSTEM, REWAKE, USER };

/* Of what is not rewake's: libraries of the system are in its folders; a user's is loaded by its
 * path. */
static enum owner
owner_of(const Dl_info *info)
{
    static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        if (begins(info->dli_fname, folders[i])) {
            return SYSTEM;
        }
    }
    return strchr(info->dli_fname, '/') != NULL ? USER : SYSTEM;
}

/* ---- Names. ---------------------------------------------------------------------------------- */

/* C++ names are demangled by the C++ runtime library, which a C++ library has loaded. */
static void
put_symbol(const char *symbol, char *ret_text, size_t size)
{
    char *(*demangle)(const char *, char *, size_t *, int *) = NULL;
    void *library = begins(symbol, "_Z") ? dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
    memcpy(&demangle, &found, sizeof(demangle));
    char *name = demangle != NULL ? demangle(symbol, NULL, NULL, NULL) : NULL;
    /* Without the types of its arguments. */
    size_t length = name != NULL ? strcspn(name, "(") : strlen(symbol);
    (void)snprintf(ret_text, size, "%.*s", (int)length, name != NULL ? name : symbol);
    free(name);
    if (library != NULL) {
        (void)dlclose(library);
    }
}

/* The nearest symbol before may be another function's: a static one has none. */
static void
set_symbol(struct sim_frame *frame, const Dl_info *info, const ElfW(Sym) * symbol, uintptr_t pc)
{
    if (info->dli_sname != NULL && symbol != NULL &&
            pc - (uintptr_t)info->dli_saddr < symbol->st_size) {
        put_symbol(info->dli_sname, frame->function, sizeof(frame->function));
    }
}

static void
set_place(struct sim_frame *frame, const struct sim_place *place, bool whole)
{
    (void)snprintf(frame->function, sizeof(frame->function), "%.63s%s%.63s", place->scope,
            place->scope[0] != '\0' ? "::" : "", place->function);
    (void)snprintf(frame->file, sizeof(frame->file), "%s", place->file);
    /* Of a function as a whole: its first instruction may be that of any line in it. */
    frame->line = whole && place->declared != 0 ? place->declared : place->line;
}

/* ---- Frames. --------------------------------------------------------------------------------- */

static bool
same_frame(const struct sim_frame *a, const struct sim_frame *b)
{
    bool named = a->file[0] != '\0' || a->function[0] != '\0';
    return strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0 &&
           a->line == b->line && (named || a->offset == b->offset);
}

static void
add_frame(struct sim_frames *frames, const struct sim_frame *frame)
{
    if (frames->count > 0 && same_frame(&frames->all[frames->count - 1], frame)) {
        frames->all[frames->count - 1].times++;
    } else if (frames->count < SIM_FRAMES_MAX) {
        frames->all[frames->count++] = *frame;
    }
}

static bool
is_header(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot != NULL && dot[1] == 'h';
}

/* In the program itself that is a scenario. In a library all is the user's but inlined functions
 * of headers of rewake and of the system. */
static bool
is_users(const struct sim_place *place, enum owner owner)
{
    const char *file = place->file;
    if (owner == REWAKE) {
        return begins(file, "scenarios/") || strstr(file, "/scenarios/") != NULL;
    }
    bool installed =
            strstr(file, "/rewake/runtime/") != NULL || strstr(file, "/rewake/sim/") != NULL;
    bool own = begins(file, "runtime/") || begins(file, "sim/") || installed;
    return file[0] != '\0' && !begins(file, "/usr/") && !(own && is_header(file));
}

static void
add_places(struct sim_frames *frames, const struct sim_frame *like, enum owner owner, bool whole,
        const struct sim_place *places, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sim_frame frame = *like;
        set_place(&frame, &places[i], whole);
        if (is_users(&places[i], owner)) {
            add_frame(frames, &frame);
        } else if (frames->count == 0 && sim_place_is_runtime(&places[i])) {
            (void)snprintf(frames->via, sizeof(frames->via), "%.63s", places[i].function);
        }
    }
}

#define START_BYTES 64u

/* Of the code that the linker adds, which calls main(). */
static bool
is_start(const Dl_info *info, uintptr_t at)
{
    const ElfW(Ehdr) *header = info->dli_fbase;
    return at - (uintptr_t)info->dli_fbase - header->e_entry < START_BYTES;
}

static void
add_address(
        struct sim_places *places, struct sim_frames *frames, uintptr_t pc, bool called, bool whole)
{
    Dl_info info;
    void *symbol = NULL;
    struct sim_place found[SIM_INLINED_MAX];
    struct sim_frame frame = {.times = 1};
    uintptr_t at = called ? pc - 1 : pc;
    bool own = sim_is_own(at);
    if (pc == 0 || (!own && dladdr1((const void *)at, &info, &symbol, RTLD_DL_SYMENT) == 0)) {
        return;
    }
    enum owner owner = own ? REWAKE : owner_of(&info);
    if (owner == SYSTEM) {
        return;
    }
    if (owner == USER) {
        frame.offset = pc - (uintptr_t)info.dli_fbase;
        (void)snprintf(frame.module, sizeof(frame.module), "%s",
                basename(sim_places_module(info.dli_fname)));
    }
    uint32_t count = places != NULL ? sim_places_at(places, pc, called, found, SIM_INLINED_MAX) : 0;
    if (count > 0) {
        add_places(frames, &frame, owner, whole, found, count);
    } else if (owner == USER && !is_start(&info, at)) {
        set_symbol(&frame, &info, symbol, at);
        add_frame(frames, &frame);
    }
}

static bool
same_stack(const struct sim_stack *a, const struct sim_stack *b)
{
    return a->count == b->count && a->returns == b->returns && a->function == b->function &&
           memcmp(a->pc, b->pc, a->count * sizeof(a->pc[0])) == 0;
}

void
sim_frames_find(const struct sim_stack *stack, struct sim_frames *ret)
{
    ret->count = 0;
    ret->via[0] = '\0';
    if (stack->count == 0 || stack->count > SIM_STACK_FRAMES) {
        return;
    }
    struct sim_places *places = places_now();
    if (same_stack(stack, &known.stack)) {
        *ret = known.frames;
        return;
    }
    for (uint32_t i = 0; i < stack->count; i++) {
        add_address(places, ret, stack->pc[i], i > 0 || stack->returns, i == 0 && stack->function);
    }
    known.stack = *stack;
    known.frames = *ret;
}

/* ---- Text. ----------------------------------------------------------------------------------- */

void
sim_frames_where(const struct sim_frames *frames, char *ret_text, size_t size)
{
    const struct sim_frame *frame = &frames->all[0];
    char via[96] = "";
    *ret_text = '\0';
    if (frames->count == 0) {
        return;
    }
    if (frames->via[0] != '\0') {
        (void)snprintf(via, sizeof(via), " in %s, called", frames->via);
    }
    if (frame->file[0] != '\0') {
        (void)snprintf(ret_text, size, "%s %s %s (%s:%u)", via, via[0] != '\0' ? "from" : "in",
                frame->function, basename(frame->file), frame->line);
    } else if (frame->function[0] != '\0') {
        (void)snprintf(ret_text, size, " in %s()", frame->function);
    } else {
        (void)snprintf(
                ret_text, size, " at %s+0x%llx", frame->module, (unsigned long long)frame->offset);
    }
}

void
sim_frame_text(const struct sim_frame *frame, char *ret_text, size_t size)
{
    char times[24] = "";
    const char *function = frame->function;
    if (frame->times > 1) {
        (void)snprintf(times, sizeof(times), " (%u times)", frame->times);
    }
    if (frame->file[0] != '\0') {
        (void)snprintf(
                ret_text, size, "%s %s:%u%s", function, basename(frame->file), frame->line, times);
    } else {
        (void)snprintf(ret_text, size, "%s%s%s+0x%llx%s", function, *function != '\0' ? " " : "",
                frame->module, (unsigned long long)frame->offset, times);
    }
}
