/*
 * run.c -- the scenario that is made of a program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_INLINE_ALL
#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/code/symbols.h"
#include "sim/core/memory/image.h"
#include "sim/core/memory/malloc.h"
#include "sim/core/process/output.h"
#include "sim/program/library.h"
#include "sim/program/names.h"
#include "sim/program/program.h"
#include "sim/program/start.h"
#include "sim/thread/tcb.h"
#include "sim/thread/thread.h"

/* ---- The process. ---------------------------------------------------------------------------- */

/* The variables of the C library that a run begins with, where the program's code looks for them.
 */
struct variables {
    char ***environment;
    char **name;
    char **short_name;
    int *option_index;
    int *option_error;
    char *single_threaded; /* libstdc++ takes short cuts where it is set. */
};

/* What the kernel would leave at the top of a program's stack: words, as sim__program_enter has
 * them, and the strings that they point to. */
struct block {
    uintptr_t *words; /* From malloc. */
    size_t word_count;
    size_t size;             /* Bytes, with the strings. */
    uint32_t argument_count; /* With the program's name. */
};

static struct {
    struct sim_program program;
    struct sim_scenario scenario;
    struct variables variables;
    struct block block;
    struct sim_program_input input; /* The arguments point into the block. */
    uint32_t environment;           /* A hash. */
    struct sim_peer peers[SIM_PEERS_MAX];
} loaded;

const struct sim_program *
sim_program_loaded(void)
{
    return loaded.program.path != NULL ? &loaded.program : NULL;
}

bool
sim_program_is(const struct sim_scenario *scenario)
{
    return scenario == &loaded.scenario;
}

struct sim__program_run *
sim__program_here(void)
{
    const struct sim_thread *thread = sim_thread_now;
    return thread != NULL && thread->actor.world->program ? thread->actor.world->state : NULL;
}

/* ---- What a program is given. ---------------------------------------------------------------- */

static const char *const usual_environment[] = {"HOME=/", "LANG=C",
        "PATH=/usr/local/bin:/usr/bin:/bin", "PWD=/", "SHELL=/bin/sh", "TERM=dumb", "TZ=UTC",
        "USER=user"};

#define USUAL (sizeof(usual_environment) / sizeof(*usual_environment))

/* Only what a start-up needs. */
static const uintptr_t auxiliary[] = {AT_PAGESZ, 4096, AT_NULL, 0};

static bool
sets_same(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");
    return strncmp(a, b, length) == 0 && b[length] == '=';
}

/* Writes the environment to `list`, without an end, and returns how many entries it has. */
static uint32_t
list_environment(const char **list, const struct sim_program_input *input)
{
    uint32_t count = USUAL;
    memcpy(list, usual_environment, sizeof(usual_environment));
    for (uint32_t i = 0; i < input->environment_count; i++) {
        uint32_t place = 0;
        while (place < count && !sets_same(list[place], input->environment[i])) {
            place++;
        }
        list[place] = input->environment[i];
        count += place == count ? 1 : 0;
    }
    return count;
}

/* Builds struct block. */
struct builder {
    uintptr_t *word;
    char *string;
};

static void
put_strings(struct builder *builder, const char *const *strings, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t size = strlen(strings[i]) + 1;
        *builder->word++ = (uintptr_t)memcpy(builder->string, strings[i], size);
        builder->string += size;
    }
    *builder->word++ = 0;
}

static size_t
bytes_of(const char *const *strings, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes += strlen(strings[i]) + 1;
    }
    return bytes;
}

static uint32_t
hash_strings(const char *const *strings, uint32_t count)
{
    uint32_t hash = 0;
    for (uint32_t i = 0; i < count; i++) {
        hash = XXH32(strings[i], strlen(strings[i]) + 1, hash);
    }
    return hash;
}

static void
build(const char *const *arguments, uint32_t argument_count, const char *const *environment,
        uint32_t environment_count)
{
    struct block *block = &loaded.block;
    block->argument_count = argument_count;
    block->word_count =
            1 + argument_count + 1 + environment_count + 1 + sizeof(auxiliary) / sizeof(*auxiliary);
    block->size = block->word_count * sizeof(uintptr_t) + bytes_of(arguments, argument_count) +
                  bytes_of(environment, environment_count);
    uintptr_t *before = block->words; /* The arguments may be from there. */
    block->words = sim_heap_new(block->size, 1);
    struct builder builder = {block->words, (char *)(block->words + block->word_count)};
    *builder.word++ = argument_count;
    put_strings(&builder, arguments, argument_count);
    put_strings(&builder, environment, environment_count);
    memcpy(builder.word, auxiliary, sizeof(auxiliary));
    rt_assert(builder.string == (char *)block->words + block->size);
    free(before);
}

static void
forget_peers(void)
{
    while (loaded.input.peer_count > 0) {
        sim_peer_done(&loaded.peers[--loaded.input.peer_count]);
    }
}

/* NULL, or what is wrong with *ret_peer. */
static const char *
set_peers(const struct sim_program_input *input, const char **ret_peer)
{
    const char *wrong = NULL;
    rt_assert(input->peer_count <= SIM_PEERS_MAX);
    forget_peers();
    for (uint32_t i = 0; i < input->peer_count && wrong == NULL; i++) {
        *ret_peer = input->peers[i];
        loaded.peers[i] = (struct sim_peer){
                .text = input->peers[i], .scenario = input->scenarios[i], .clients = 1};
        wrong = input->scenarios[i] == NULL ? sim_peer_parse(input->peers[i], &loaded.peers[i])
                                            : NULL;
        loaded.input.peer_count = i + 1;
    }
    return wrong;
}

static void
set_words(const struct sim_program_input *input)
{
    const char **arguments = sim_heap_new(1 + input->argument_count, sizeof(*arguments));
    const char **environment = sim_heap_new(USUAL + input->environment_count, sizeof(*environment));
    arguments[0] = loaded.program.path;
    for (uint32_t i = 0; i < input->argument_count; i++) {
        arguments[1 + i] = input->arguments[i];
    }
    uint32_t count = list_environment(environment, input);
    build(arguments, 1 + input->argument_count, environment, count);
    loaded.environment = hash_strings(environment, count);
    free(environment);
    free(arguments);
}

const char *
sim_program_set_input(const struct sim_program_input *input, const char **ret_peer)
{
    rt_assert(loaded.program.path != NULL);
    const char *wrong = set_peers(input, ret_peer);
    if (wrong != NULL) {
        return wrong;
    }
    set_words(input);
    char **words = (char **)(void *)loaded.block.words;
    loaded.input = (struct sim_program_input){.arguments = words + 2,
            .argument_count = input->argument_count,
            .peers = input->peers,
            .peer_count = input->peer_count};
    return NULL;
}

const struct sim_program_input *
sim_program_input(void)
{
    rt_assert(loaded.program.path != NULL);
    return &loaded.input;
}

uint32_t
sim_program_environment(void)
{
    return loaded.environment;
}

/* ---- The run. -------------------------------------------------------------------------------- */

/* A copy of the block at `to`: the program may write to it. */
static uintptr_t *
copy_block(void *to)
{
    const struct block *block = &loaded.block;
    uintptr_t *words = memcpy(to, block->words, block->size);
    for (size_t i = 1; i < block->word_count; i++) {
        uintptr_t inside = words[i] - (uintptr_t)block->words;
        words[i] = inside < block->size ? (uintptr_t)words + inside : words[i];
    }
    return words;
}

static void
set_variables(uintptr_t *words)
{
    char **list = (char **)(void *)words;
    char *slash = strrchr(list[1], '/');
    *loaded.variables.environment = list + 1 + loaded.block.argument_count + 1;
    *loaded.variables.name = list[1];
    *loaded.variables.short_name = slash != NULL ? slash + 1 : list[1];
    *loaded.variables.single_threaded = 0;
}

static bool
malloc_fails(uintptr_t caller)
{
    const void *pc = (const void *)caller; /* NOLINT: an address of code. */
    return sim_thread_now != NULL &&
           sim_thread_call_error(SIM_CALL_FAULT_malloc, sim_thread_site(pc)) != 0;
}

/* Where the kernel has it: above the first frame of the program. */
static void *
enter(void *argument)
{
    (void)argument;
    uintptr_t *words = copy_block(__builtin_alloca_with_align(loaded.block.size, 128));
    set_variables(words);
    sim__program_enter(&loaded.program, words);
}

static void
start_peers(struct sim_world *world)
{
    uint32_t clients = 0;
    void *state = world->state; /* A scenario sets its own. */
    for (uint32_t i = 0; i < loaded.input.peer_count; i++) {
        sim_peer_start(world, &loaded.peers[i], 1 + clients);
        clients += loaded.peers[i].clients;
    }
    world->state = state;
}

static void
setup(struct sim_world *world)
{
    if (!sim_malloc_reuses()) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_LIMIT, NULL, 0, "no memory is left");
    }
    if ((world->faults & SIM_FAULT_CALLS) != 0) {
        sim_malloc_may_fail(malloc_fails);
    }
    world->program = true;
    world->late_timeouts = world->options.params[SIM_PROGRAM_LATE_TIMEOUTS] != 0;
    world->keeps_memory = world->options.params[SIM_PROGRAM_LEAKS] == 0;
    struct sim__program_run *run = sim_new(world, struct sim__program_run);
    run->program = &loaded.program;
    run->option_index = loaded.variables.option_index;
    *run->option_index = 1;
    *loaded.variables.option_error = 1;
    sim_set_state(world, run);
    world->loses_little = world->options.params[SIM_PROGRAM_SLOW_STEPS] == 0;
    (void)sim_thread_spawn(world, &(struct sim_thread_start){.name = "main", .fn = enter});
    start_peers(world);
}

/* ---- The scenario. --------------------------------------------------------------------------- */

static const struct sim_param params[] = {
#define PARAM(name, word, about) {#word, about, 0, 0, 1},
        SIM_PROGRAM_PARAM_LIST(PARAM)
#undef PARAM
                {NULL, NULL, 0, 0, 0},
};

/* The program's copy of a library's variable. Its name there may be another one of the same
 * variable: environ, _environ, __environ. */
struct copy {
    const void *original;
    void *memory;
};

static void
find_copy(void *argument, const char *name, void *memory, size_t size)
{
    struct copy *copy = argument;
    (void)size;
    copy->memory = dlsym(RTLD_DEFAULT, name) == copy->original ? memory : copy->memory;
}

/* Where the program has the variable `name`. */
static void *
variable(const struct sim_program *program, const char *name)
{
    void *original = dlsym(RTLD_DEFAULT, name);
    struct copy copy = {original, original};
    sim_program_copies(&program->module, find_copy, &copy);
    rt_assert(copy.memory != NULL);
    return copy.memory;
}

/* A C library before 2.32 has none. */
static char *
single_threaded(const struct sim_program *program)
{
    static char none;
    const char *name = "__libc_single_threaded";
    return dlsym(RTLD_DEFAULT, name) != NULL ? variable(program, name) : &none;
}

struct sharing {
    struct sim_module self;
    rt_err err;
};

/* Of rewake itself: variables that libraries use too. Not constants, such as in6addr_any. */
static void
share_copy(void *argument, const char *name, void *memory, size_t size)
{
    struct sharing *sharing = argument;
    (void)name;
    if (sharing->err == RT_OK && !sim_module_is_sealed(&sharing->self, (uintptr_t)memory)) {
        sharing->err = sim_images_add(memory, size, true);
    }
}

/* Program and rewake have different streams: the program's copies get those of the run. */
static void
set_streams(const struct sim_program *program)
{
    FILE **out = variable(program, "stdout");
    FILE **error = variable(program, "stderr");
    if (out != &stdout) {
        *out = sim_output_stream(SIM_OUTPUT_STDOUT);
    }
    if (error != &stderr) {
        *error = sim_output_stream(SIM_OUTPUT_STDERR);
    }
}

static bool
share_variables(void)
{
    struct sharing sharing = {.err = sim_images_share()};
    bool known = sim_module_of((uintptr_t)&loaded, &sharing.self);
    rt_assert(known);
    sharing.err = sharing.err == RT_OK ? sim_thread_share_descriptor() : sharing.err;
    sim_program_copies(&sharing.self, share_copy, &sharing);
    return sharing.err == RT_OK;
}

bool
sim_program_claim_locals(const struct sim_program *program)
{
    for (uint32_t i = 0; program->entry != 0 && i < program->module.segment_count; i++) {
        const ElfW(Phdr) *block = &program->module.segments[i];
        if (block->p_type == PT_TLS && block->p_memsz > 0) {
            return sim_thread_claim_reserve((const char *)program->module.base + block->p_vaddr,
                           block->p_filesz, block->p_memsz, block->p_align) != NULL;
        }
    }
    return true;
}

const struct sim_scenario *
sim_program_make(const struct sim_program *program)
{
    const char *slash = strrchr(program->path, '/');
    rt_assert(loaded.program.path == NULL);
    if (sim_program_bind(program) != RT_OK || !share_variables()) {
        return NULL;
    }
    loaded.program = *program;
    sim_program_note_libraries(program);
    sim_places_set_original(program->path);
    sim_program_names_load();
    loaded.scenario = (struct sim_scenario){
            .name = slash != NULL ? slash + 1 : program->path,
            .about = "A program.",
            .setup = setup,
            .params = params,
            .profile = SIM_PROFILE_FD,
    };
    loaded.variables = (struct variables){variable(program, "environ"),
            variable(program, "program_invocation_name"),
            variable(program, "program_invocation_short_name"), variable(program, "optind"),
            variable(program, "opterr"), single_threaded(program)};
    set_streams(program);
    (void)sim_program_set_input(&(struct sim_program_input){.argument_count = 0}, NULL);
    return &loaded.scenario;
}
