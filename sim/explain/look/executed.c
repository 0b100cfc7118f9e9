/*
 * executed.c -- breakpoints at the reader's functions, a look at each instruction inside of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/executed.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/base/own.h"
#include "sim/core/scenario.h"
#include "sim/core/world.h"
#include "sim/explain/look/block.h"
#include "sim/explain/look/fills.h"
#include "sim/explain/look/translate.h"
#include "sim/program/program.h"

#define FUNCTIONS_MAX 8192u
#define STEPS_MAX UINT64_C(1000)
#define PIECES_MAX 32u      /* Of a block; the rest is left out. */
#define PIECE_OF_MESSAGE 4u /* Its fields are mostly so large, or twice. */
#define ACTORS 256u
#define HELD_SIZE 65536u /* A hash table. */
#define HELD_MAX 32768u
#define HELD_PLACE (UINT64_C(1) << 61) /* No address of memory is so large. */
#define MEANWHILE_MAX 4096u /* Instructions during a call, to see who else has written. */

/* Instructions that are walked count as so many steps of the budget. */
#define STEPS_EACH 1u

/* A function of the reader's. */
struct function {
    uintptr_t from;
    uintptr_t to;
};

struct sim_code {
    struct function functions[FUNCTIONS_MAX]; /* By address. */
    uint32_t function_count;
};

/* ---- Which functions. ------------------------------------------------------------------------ */

struct origin {
    uintptr_t at; /* In its module. */
    struct sim_place setup;
    bool one_file;
    bool whole; /* All of it: what a header has made into functions calls the reader's. */
};

static bool
is_of(const struct origin *origin, const struct sim_place *place)
{
    return origin->whole ||
           (sim_place_is_readers(place) && !sim_place_is_runtime(place) &&
                   (!origin->one_file || strcmp(place->file, origin->setup.file) == 0));
}

static bool
find_origin(struct sim_places *places, const struct sim_scenario *scenario, struct origin *ret)
{
    uintptr_t setup = (uintptr_t)scenario->setup;
    const struct sim_program *program = sim_program_loaded();
    if (sim_program_is(scenario)) {
        *ret = (struct origin){.whole = true,
                .at = program->entry != 0 ? program->entry : (uintptr_t)program->main};
        return ret->at != 0;
    }
    *ret = (struct origin){.at = setup, .one_file = sim_is_own(setup)};
    return sim_places_at(places, setup, false, &ret->setup, 1) > 0;
}

struct sim_code *
sim_code_new(struct sim_places *places, const struct sim_scenario *scenario)
{
    struct origin origin;
    struct sim_function next = {.from = 0};
    if (places == NULL || !find_origin(places, scenario, &origin)) {
        return NULL;
    }
    struct sim_code *code = sim_results_new(sizeof(*code));
    while (code != NULL && code->function_count < FUNCTIONS_MAX &&
            sim_places_next(places, origin.at, origin.one_file, &next)) {
        if (is_of(&origin, &next.place)) {
            code->functions[code->function_count++] = (struct function){next.from, next.to};
        }
    }
    return code;
}

void
sim_code_free(struct sim_code **code)
{
    sim_results_free(code);
}

static const struct function *
function_at(const struct sim_code *code, uintptr_t pc)
{
    uint32_t low = 0;
    uint32_t high = code->function_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (code->functions[middle].to <= pc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool within = low < code->function_count && code->functions[low].from <= pc;
    return within ? &code->functions[low] : NULL;
}

uintptr_t
sim_code_function(const struct sim_code *code, uintptr_t pc)
{
    const struct function *function = code != NULL ? function_at(code, pc) : NULL;
    return function != NULL ? function->from : 0;
}

bool
sim_code_make_writable(const struct sim_code *code)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t done = 0;
    rt_assert(page > 0);
    for (uint32_t i = 0; i < code->function_count; i++) {
        const struct function *function = &code->functions[i];
        uintptr_t from = function->from & ~(page - 1);
        from = from < done ? done : from;
        uintptr_t to = (function->to + page - 1) & ~(page - 1);
        if (from < to &&
                mprotect((void *)from, to - from, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
            return false;
        }
        done = to > done ? to : done;
    }
    return true;
}

#if defined(__x86_64__)

/* ---- A walk. --------------------------------------------------------------------------------- */

/* A byte of a message that is on its way. Each has a place of its own, as no other is written
 * where it was: what holds messages is used again and again, which is no change of anything. */
struct held {
    uintptr_t address; /* 0: free. */
    uintptr_t place;
};

/* Of the process: set while a run is walked. */
static struct {
    const struct sim_code *code;
    struct sim_executed *executed;
    struct sim_instruction *open; /* It is done when the next one is looked at, … */
    uint32_t pieces;              /* … and so many before it, which it writes. */
    uintptr_t next;               /* What stands behind it. */
    bool returns;                 /* It does so. */
    uint32_t last[ACTORS];        /* The last call of each actor, and one; 0: none. */
    uint32_t held_count;
    struct held held[HELD_SIZE];
} walk;

static uint64_t
memory_at(uintptr_t address, uint8_t size)
{
    uint64_t value = 0;
    rt_assert(size <= sizeof(value));
    memcpy(&value, (const void *)address, size);
    return value;
}

static void
note_memory(struct sim_instruction *instruction, const struct sim_decoded *decoded,
        const long long *registers)
{
    const struct sim_operand *operand = &decoded->operand;
    uintptr_t address = operand->size > 0 ? sim_operand_address(operand, registers) : 0;
    if (address >= 4096) {
        instruction->address = address;
        instruction->size = operand->size;
        instruction->length = decoded->length;
        instruction->reads = operand->reads;
        instruction->writes = operand->writes;
        instruction->before = memory_at(address, operand->size);
        instruction->after = instruction->before;
    }
}

/* The instruction before is done; `own`: the one at `pc` is the reader's. */
static void
close_instruction(uintptr_t pc, bool own)
{
    struct sim_instruction *done = walk.open;
    walk.open = NULL;
    /* Some that write are said to read only (cmpxchg). */
    if (done != NULL && done->address != 0) {
        done->after = memory_at(done->address, done->size);
        done->writes = done->writes || done->after != done->before;
    }
    for (uint32_t i = 1; done != NULL && i <= walk.pieces; i++) {
        done[-(ptrdiff_t)i].after =
                memory_at(done[-(ptrdiff_t)i].address, done[-(ptrdiff_t)i].size);
    }
    walk.pieces = 0;
    if (done != NULL) {
        done->taken = done->jump && pc != walk.next;
        done->leaves = !walk.returns && !own;
    }
}

/* One word of a block; NULL: it does not fit. */
static struct sim_instruction *
add_piece(const struct sim_instruction *whole, uintptr_t address, size_t size)
{
    struct sim_executed *executed = walk.executed;
    if (executed->count + 1 >= SIM_EXECUTED_MAX) {
        return NULL;
    }
    struct sim_instruction *piece = &executed->all[executed->count++];
    *piece = *whole;
    piece->piece = true;
    piece->jump = piece->call = false;
    piece->address = address;
    piece->size = (uint8_t)size;
    piece->before = piece->after = memory_at(address, (uint8_t)size);
    return piece;
}

/* What a block moves, in pieces of `each` bytes from `first` on; so many there are. */
static uint32_t
add_pieces(const struct sim_block *block, const struct sim_instruction *whole, size_t first,
        size_t each)
{
    uint32_t count = 0;
    for (size_t at = first; at < block->size && count < PIECES_MAX; at += each, count++) {
        size_t size = block->size - at < each ? block->size - at : each;
        struct sim_instruction *read =
                block->from != 0 ? add_piece(whole, block->from + at, size) : NULL;
        struct sim_instruction *write =
                block->to != 0 ? add_piece(whole, block->to + at, size) : NULL;
        if (read != NULL) {
            read->reads = true;
        }
        if (write != NULL) {
            write->writes = true;
            write->copied = read != NULL;
            write->after = block->filled  ? block->fill & (UINT64_MAX >> (64 - 8 * size))
                           : read != NULL ? read->before
                                          : write->after;
        }
    }
    return count;
}

/* The byte of a message at that address, or where it would be noted. */
static struct held *
held_at(uintptr_t address)
{
    uint32_t slot = (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % HELD_SIZE;
    while (walk.held[slot].address != 0 && walk.held[slot].address != address) {
        slot = (slot + 1) % HELD_SIZE;
    }
    return &walk.held[slot];
}

/* Gives it places. */
static void
hold(uintptr_t address, size_t size, uintptr_t place)
{
    for (size_t i = 0; i < size && walk.held_count < HELD_MAX; i++) {
        struct held *held = held_at(address + i);
        walk.held_count += held->address == 0;
        *held = (struct held){address + i, place + i};
    }
}

/* What was held there is no more. */
static void
forget(uintptr_t address, size_t size)
{
    for (size_t i = 0; i < size && walk.held_count > 0; i++) {
        held_at(address + i)->place = 0;
    }
}

/* rt_probe_moves's. A message of the actor whose step this is, as its last call says. What is not
 * known, as it came of one whose code is not looked at, has a place that none has written. */
static void
note_message(void *to, const void *from, size_t size, bool sends)
{
    const struct sim_world *world = sim_world_current;
    bool known = world != NULL && world->stepping != NULL && !world->closing;
    if (sends) {
        forget((uintptr_t)to, size);
    }
    uint32_t last = known ? walk.last[world->stepping->id % ACTORS] : 0;
    const struct sim_instruction *call = last > 0 ? &walk.executed->all[last - 1] : NULL;
    if (call == NULL || call->actor_id != world->stepping->id || call->step > world->step) {
        return;
    }
    struct sim_instruction whole = *call;
    whole.step = world->step;
    whole.events = (uint32_t)world->recorder.count;
    whole.moved = true;
    whole.leaves = false;
    whole.address = 0;
    whole.reads = whole.writes = false;
    const struct sim_block block = {(uintptr_t)to, (uintptr_t)from, size, 0, false};
    uint32_t first = walk.executed->count;
    (void)add_pieces(&block, &whole, 0, PIECE_OF_MESSAGE);
    for (uint32_t i = first; i < walk.executed->count; i++) {
        struct sim_instruction *piece = &walk.executed->all[i];
        uintptr_t own = HELD_PLACE + (uintptr_t)i * sizeof(uint64_t);
        if (piece->writes == sends) {
            if (sends) {
                hold(piece->address, piece->size, own);
            }
            uintptr_t place = held_at(piece->address)->place;
            piece->address = place != 0 ? place : own;
        }
    }
}

static void
open_instruction(uintptr_t pc, const struct sim_decoded *decoded, const long long *registers)
{
    struct sim_executed *executed = walk.executed;
    const struct sim_world *world = sim_world_current;
    if (executed->count == SIM_EXECUTED_MAX || world == NULL || world->stepping == NULL) {
        return;
    }
    walk.next = pc + decoded->length;
    walk.returns = decoded->flow == SIM_FLOW_RETURN;
    struct sim_block block;
    struct sim_instruction whole = {.pc = pc,
            .stack = (uintptr_t)registers[REG_RSP],
            .result = (uint64_t)registers[REG_RAX],
            .step = world->step,
            .actor_id = world->closing ? world->current->id : world->stepping->id,
            .events = (uint32_t)world->recorder.count,
            .jump = decoded->flow == SIM_FLOW_IF,
            .call = decoded->flow == SIM_FLOW_CALL};
    sim_block_of(pc, decoded, registers, &block);
    if (block.size > 0 && (block.to == 0 || block.to >= 4096) &&
            (block.from == 0 || block.from >= 4096)) {
        /* One of a vector has the first word itself. */
        size_t first = decoded->operand.wide > 0 ? sizeof(uint64_t) : 0;
        uint32_t count = add_pieces(&block, &whole, first, sizeof(uint64_t));
        walk.pieces = block.from == 0 && !block.filled ? count : 0;
    }
    walk.open = &executed->all[executed->count++];
    *walk.open = whole;
    if (whole.call) {
        walk.last[whole.actor_id % ACTORS] = executed->count;
    }
    if (!decoded->repeats) {
        note_memory(walk.open, decoded, registers);
    }
}

/* Another instruction has written there since the `call`-th, which moves a message itself. */
static bool
is_written_since(const struct sim_executed *executed, uint32_t call, uintptr_t address)
{
    bool written = executed->count - call > MEANWHILE_MAX;
    for (uint32_t i = call + 1; i < executed->count && !written; i++) {
        const struct sim_instruction *one = &executed->all[i];
        written = one->writes && !one->moved && one->address < address + 8 &&
                  address < one->address + one->size;
    }
    return written;
}

/* Where a call has returned: what it has written. */
static void
note_fills(uintptr_t pc, const long long *registers)
{
    struct sim_executed *executed = walk.executed;
    const struct sim_world *world = sim_world_current;
    uintptr_t words[SIM_FILLS_MAX];
    uint32_t count = 0;
    if (world == NULL || world->stepping == NULL) {
        return;
    }
    uint32_t actor_id = world->closing ? world->current->id : world->stepping->id;
    uint32_t call = sim_fills_back(actor_id, pc, (uintptr_t)registers[REG_RSP], words, &count);
    for (uint32_t i = 0; i < count && executed->filled_count < SIM_FILLED_MAX; i++) {
        if (!is_written_since(executed, call, words[i])) {
            executed->filled[executed->filled_count++] = (struct sim_filled_word){
                    .address = words[i], .call = call, .back = executed->count};
        }
    }
}

static enum sim_look
look(uintptr_t pc, const struct sim_decoded *decoded, const long long *registers)
{
    const uintptr_t *stack = (const uintptr_t *)registers[REG_RSP];
    if (sim_world_current != NULL) {
        sim_world_spend(sim_world_current, STEPS_EACH);
    }
    bool own = function_at(walk.code, pc) != NULL;
    const struct sim_instruction *done = walk.open;
    close_instruction(pc, own);
    if (own) {
        note_fills(pc, registers);
        open_instruction(pc, decoded, registers);
        return SIM_LOOK_NEXT;
    }
    if (function_at(walk.code, stack[0]) != NULL) {
        sim_translate_stop(stack[0]); /* It was called from there, and will return. */
        if (done != NULL && done->call && stack[0] == walk.next) {
            sim_fills_leave(done->actor_id, (uint32_t)(done - walk.executed->all), stack[0],
                    done->stack, registers);
        }
    }
    return SIM_LOOK_LEAVE;
}

static bool
begin_walk(const struct sim_code *code, struct sim_executed *executed)
{
    static const struct sim_translate_user user = {.look = look};
    walk.code = code;
    walk.executed = executed;
    walk.open = NULL;
    walk.pieces = 0;
    memset(walk.last, 0, sizeof(walk.last));
    if (walk.held_count > 0) {
        memset(walk.held, 0, sizeof(walk.held));
        walk.held_count = 0;
    }
    sim_fills_begin(code->function_count > 0 ? code->functions[0].from : 0);
    executed->count = 0;
    executed->filled_count = 0;
    if (!sim_code_make_writable(code) || !sim_translate_begin(&user)) {
        return false;
    }
    for (uint32_t i = 0; i < code->function_count; i++) {
        sim_translate_stop(code->functions[i].from);
    }
    return true;
}

struct request {
    struct sim_code *code;
    struct sim_executed *executed;
    bool checked;
    uint64_t dies; /* A step after the end; 0: the end. */
};

/* The run up to `to`; where it is to be checked, and is no longer, all of it. The events are those
 * that the record has already. */
static void
run_to(struct sim_world *world, const struct sim_case *what,
        const struct sim_experiment *experiment, bool checked, uint64_t to)
{
    const struct sim_recording events = {true, false};
    struct sim_outcome outcome;
    if (checked && to == experiment->outcome->steps) {
        sim_world_run(world, what->scenario, &what->options, what->seed, what->strategy, events,
                &outcome);
    } else {
        (void)sim_world_run_to(world, what->scenario, &what->options, what->seed, what->strategy,
                events, (struct sim_stop){to, false});
        sim_world_drop(world);
    }
}

/* sim_analyze_fn. */
static void
walk_run(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        void *argument)
{
    const struct request *request = argument;
    struct sim_experiment experiment;
    if (!begin_walk(request->code, request->executed)) {
        return;
    }
    sim_experiment_begin(&experiment, world, what, outcome);
    uint64_t end = request->dies != 0 ? request->dies : outcome->steps;
    uint64_t to = end < STEPS_MAX ? end : STEPS_MAX;
    rt_probe_moves = note_message;
    request->executed->done = true; /* Of one that dies here this much is known. */
    run_to(world, what, &experiment, request->checked, to);
    sim_translate_end();
    rt_probe_moves = NULL;
    sim_experiment_end(&experiment);
    request->executed->whole = to == outcome->steps && request->executed->count < SIM_EXECUTED_MAX;
}

#endif

struct sim_executed *
sim_executed_run(const struct sim_runs *runs, const struct sim_tape *tape, struct sim_code *code,
        bool checked, uint64_t dies)
{
    struct sim_executed *executed = sim_results_new(sizeof(*executed));
    sim_block_prepare();
#if defined(__x86_64__)
    struct request request = {code, executed, checked, dies};
    if (executed != NULL && code != NULL) {
        sim_runs_analyze(runs, NULL, tape, walk_run, &request);
    }
#else
    (void)runs, (void)tape, (void)code, (void)checked, (void)dies;
#endif
    return executed;
}

void
sim_executed_free(struct sim_executed **executed)
{
    sim_results_free(executed);
}

uint32_t
sim_executed_of_event(const struct sim_executed *executed, uint32_t actor_id, uint64_t event)
{
    uint32_t found = UINT32_MAX;
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; i < executed->count && executed->all[i].events <= event; i++) {
        found = executed->all[i].actor_id == actor_id ? i : found;
        last = i;
    }
    return found != UINT32_MAX ? found : last;
}

/* The next instruction of `actor_id` from `from` on; the count: there is none. */
static uint32_t
next_of(const struct sim_executed *executed, uint32_t actor_id, uint32_t from)
{
    while (from < executed->count && executed->all[from].actor_id != actor_id) {
        from++;
    }
    return from;
}

/* A call that is in progress has its stack above all that is executed after it. */
uint32_t
sim_executed_caller(const struct sim_executed *executed, uint32_t index)
{
    rt_assert(index < executed->count);
    uintptr_t above = executed->all[index].stack;
    uint32_t actor_id = executed->all[index].actor_id;
    for (uint32_t i = index; i-- > 0;) {
        const struct sim_instruction *one = &executed->all[i];
        if (one->actor_id == actor_id && one->stack > above) {
            if (one->call && above != 0) {
                return i;
            }
            above = one->stack;
        }
    }
    return UINT32_MAX;
}

uint32_t
sim_executed_parts(
        const struct sim_executed *here, const struct sim_executed *there, uint32_t actor_id)
{
    rt_assert(here != NULL && there != NULL);
    uint32_t last = UINT32_MAX;
    uint32_t i = next_of(here, actor_id, 0);
    uint32_t k = next_of(there, actor_id, 0);
    while (i < here->count && k < there->count) {
        if (here->all[i].pc != there->all[k].pc) {
            return last;
        }
        last = i;
        i = next_of(here, actor_id, i + 1);
        k = next_of(there, actor_id, k + 1);
    }
    return UINT32_MAX;
}

/* The call that returned right before the `next`-th instruction, whose actor executed the
 * `index`-th before that; UINT32_MAX: none did. *ret_own: what it did is on record as a whole. */
static uint32_t
returned_from(const struct sim_code *code, const struct sim_executed *executed, uint32_t index,
        uint32_t next, bool *ret_own)
{
    const struct sim_instruction *after = &executed->all[next];
    uint32_t entered = next;
    for (uint32_t i = index + 1; i-- > 0;) {
        const struct sim_instruction *one = &executed->all[i];
        if (one->actor_id != after->actor_id || one->moved) {
            continue;
        }
        if (one->stack >= after->stack) {
            const struct sim_instruction *first = &executed->all[entered];
            const struct function *function = function_at(code, first->pc);
            *ret_own = first->stack + sizeof(uintptr_t) == one->stack && function != NULL &&
                       function->from == first->pc;
            return one->stack == after->stack && one->call ? i : UINT32_MAX;
        }
        entered = i;
    }
    return UINT32_MAX;
}

/* Whether the function of the `next`-th instruction begins there, and none of the reader's, of
 * which the last instruction is `index`, has called it. */
static bool
enters(const struct sim_code *code, const struct sim_executed *executed, uint32_t index,
        uint32_t next)
{
    const struct sim_instruction *one = &executed->all[index];
    const struct sim_instruction *first = &executed->all[next];
    const struct function *function = function_at(code, first->pc);
    return function != NULL && function->from == first->pc &&
           !(one->call && first->stack + sizeof(uintptr_t) == one->stack);
}

uint32_t
sim_executed_register(const struct sim_code *code, const struct sim_executed *executed,
        uint32_t index, uint64_t bit)
{
    uint32_t next = index;
    for (uint32_t i = index; i-- > 0;) {
        const struct sim_instruction *one = &executed->all[i];
        struct sim_registers registers;
        if (one->actor_id != executed->all[index].actor_id || one->stack == 0 || one->moved) {
            continue;
        }
        if (enters(code, executed, i, next)) {
            return UINT32_MAX;
        }
        bool own = false;
        bool kept = (bit & SIM_REGISTERS_KEPT) != 0;
        uint32_t call = returned_from(code, executed, i, next, &own);
        if (call != UINT32_MAX && !kept && !own) {
            return call;
        }
        i = call != UINT32_MAX && (kept || !own) ? call : i;
        if (sim_registers_of(executed->all[i].pc, &registers) && !executed->all[i].call &&
                (registers.writes & bit) != 0) {
            return i;
        }
        next = i;
    }
    return UINT32_MAX;
}
