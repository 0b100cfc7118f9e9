/*
 * tcb.c -- parked threads, and the thread-local variables of each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/thread/tcb.h"

#include <limits.h>
#include <link.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <asm/prctl.h>
#endif

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/memory/image.h"
#include "sim/core/memory/malloc.h"
#include "sim/core/memory/shadow.h"
#include "sim/thread/priv.h"
#include "sim/thread/sync/calls.h"

#define MODULES_MAX 64u

uintptr_t sim__pointer_of_world;
bool sim__pointer_is_slow;

/* Of the executable, and its only thread-local variable: it lies right below the thread pointer. */
static __thread char reserve[SIM_THREAD_RESERVE] __attribute__((aligned(64)));

/* Of the process. */
static struct {
    bool wanted;
    bool looked; /* At what the processor can do. */
    struct {
        const void *image;
        size_t file_size;
        size_t size;
        size_t offset; /* In the reserve. */
    } claim;           /* Size 0: no program has claimed the reserve. */
    uint32_t messages; /* Of a descriptor: see below; 0: not known. */
    uint32_t count;    /* Parked threads. */
    struct {
        uintptr_t pointer;
        struct sim_image_range parts; /* Its variables. */
    } slots[SIM__SLOTS];
} tcb;

/* Of the loader: the calling thread's block of a module, allocated when it is missing. */
struct tls_index {
    unsigned long module;
    unsigned long offset;
};
extern void *__tls_get_addr(struct tls_index *index);

/* ---- The processor. -------------------------------------------------------------------------- */

bool
sim_thread_pointers_possible(void)
{
#if defined(__x86_64__) && !defined(SIM_ASAN) && !defined(__SANITIZE_THREAD__) && \
        !defined(RT_CONTEXT_UCONTEXT)
    return true;
#else
    return false;
#endif
}

void
sim__pointer_set_slowly(uintptr_t pointer)
{
#if defined(__x86_64__)
    long ret;
    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(pointer)
                     : "rcx", "r11", "memory");
    rt_assert(ret == 0);
#else
    (void)pointer;
    rt_unreached("there is one thread pointer on this processor");
#endif
}

/* The first word of a TCB is its own address. */
static uintptr_t
read_pointer(void)
{
    uintptr_t pointer = 0;
#if defined(__x86_64__)
    __asm__ volatile("mov %%fs:0, %0" : "=r"(pointer));
#endif
    return pointer;
}

#define FSGSBASE 2u /* Of AT_HWCAP2: the kernel lets programs write the register. */

static void
look(void)
{
    if (!tcb.looked) {
        tcb.looked = true;
        sim__pointer_is_slow = (getauxval(AT_HWCAP2) & FSGSBASE) == 0;
        sim__pointer_of_world = read_pointer();
    }
}

/* ---- The reserve. ---------------------------------------------------------------------------- */

static int
find_executable(struct dl_phdr_info *info, size_t size, void *ret_size)
{
    (void)size;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_TLS) {
            *(size_t *)ret_size = info->dlpi_phdr[i].p_memsz;
        }
    }
    return 1; /* The executable is the first. */
}

/* Whether the reserve ends where the thread pointer is: the executable has nothing else there. */
static bool
is_in_place(void)
{
    size_t size = 0;
    (void)dl_iterate_phdr(find_executable, &size);
    return size == SIM_THREAD_RESERVE && sim_thread_pointers_possible() &&
           (uintptr_t)reserve + SIM_THREAD_RESERVE == read_pointer();
}

static void
fill_reserve(char *block)
{
    memcpy(block, tcb.claim.image, tcb.claim.file_size);
    memset(block + tcb.claim.file_size, 0, tcb.claim.size - tcb.claim.file_size);
}

void *
sim_thread_claim_reserve(const void *image, size_t file_size, size_t size, size_t alignment)
{
    rt_assert(file_size <= size);
    rt_assert(tcb.count == 0);
    size_t mask = alignment > 0 ? alignment - 1 : 0;
    if (size == 0 || size > SIM_THREAD_RESERVE || mask > 63 || tcb.claim.size != 0 ||
            !is_in_place()) {
        return NULL;
    }
    tcb.claim.image = image;
    tcb.claim.file_size = file_size;
    tcb.claim.size = size;
    tcb.claim.offset = SIM_THREAD_RESERVE - ((size + mask) & ~mask);
    fill_reserve(reserve + tcb.claim.offset);
    return reserve + tcb.claim.offset;
}

/* ---- Descriptors. ---------------------------------------------------------------------------- */

/* Words of a descriptor that are looked at. */
#define DESCRIPTOR_WORDS 512u

/* The two words lie side by side; tcb.messages is the number of the first. */
static rt_err
add_messages(uintptr_t pointer, bool shared)
{
    uintptr_t *words = (uintptr_t *)pointer; /* NOLINT(performance-no-int-to-ptr) */
    return tcb.messages == 0 ? RT_OK
                             : sim_images_add(&words[tcb.messages], 2 * sizeof(*words), shared);
}

rt_err
sim_thread_share_descriptor(void)
{
    const uintptr_t *words = (const uintptr_t *)__builtin_thread_pointer();
    uintptr_t text = (uintptr_t)strerror(INT_MAX);
    for (uint32_t i = 1; i < DESCRIPTOR_WORDS && tcb.messages == 0; i++) {
        tcb.messages = words[i] == text ? i - 1 : 0;
    }
    return add_messages((uintptr_t)words, true);
}

/* ---- Parked threads. ------------------------------------------------------------------------- */

/* A piece of the thread-local variables of a thread. */
struct piece {
    char *start;
    size_t size;
    bool program; /* The program's: constructors may have changed the world's own. */
};

/* Of one thread. */
struct pieces {
    struct piece all[MODULES_MAX];
    uint32_t count;
};

static int
add_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct pieces *pieces = argument;
    bool numbered = size >= sizeof(*info) && info->dlpi_tls_modid != 0;
    for (uint32_t i = 0; numbered && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_TLS && info->dlpi_name[0] != '\0' &&
                pieces->count < MODULES_MAX) {
            struct tls_index index = {info->dlpi_tls_modid, 0};
            pieces->all[pieces->count++] = (struct piece){__tls_get_addr(&index), segment->p_memsz,
                    sim_images_have_tls_of(info->dlpi_tls_modid)};
        }
    }
    return 0;
}

/* Of the calling thread; the executable's is what a program has claimed. */
static void
find_pieces(struct pieces *ret)
{
    ret->count = 0;
    (void)dl_iterate_phdr(add_module, ret);
    if (tcb.claim.size > 0 && ret->count < MODULES_MAX) {
        ret->all[ret->count++] = (struct piece){reserve + tcb.claim.offset, tcb.claim.size, true};
    }
}

/* From a new thread to the one that makes it. */
struct parking {
    struct pieces pieces;
    uintptr_t pointer;
    sem_t parked;
};

/* Not by a name of the C library: these are played as soon as a simulated thread runs, which this
 * real one must not be taken for. */
static void
pause_really(void)
{
#if defined(__x86_64__)
    long ret = SYS_pause;
    __asm__ volatile("syscall" : "+a"(ret) : : "rcx", "r11", "memory");
#else
    rt_unreached("no thread is parked on this processor");
#endif
}

static void *
park(void *argument)
{
    struct parking *parking = argument;
    find_pieces(&parking->pieces);
    if (tcb.claim.size > 0) {
        fill_reserve(reserve + tcb.claim.offset);
    }
    parking->pointer = read_pointer();
    (void)sim__thread_real.sem_post(&parking->parked);
    for (;;) {
        pause_really();
    }
    return NULL;
}

/* Thread pointers are at the same addresses in every process: a program sees them as pthread_t, and
 * may print or hash them. */
#define PARKED_AT ((uintptr_t)0x250000000000)
#define PARKED_SIZE (4 * SIM_THREAD_RESERVE)

/* Its stack, with its descriptor and variables at the end. NULL: the system refuses. */
static void *
map_parked(uint32_t slot)
{
    void *hint = (void *)(PARKED_AT + slot * PARKED_SIZE); /* NOLINT(performance-no-int-to-ptr) */
    void *memory = mmap(hint, PARKED_SIZE, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static bool
make_parked(struct parking *parking)
{
    sigset_t all;
    sigset_t before;
    pthread_t id;
    pthread_attr_t attributes;
    (void)sigfillset(&all);
    void *memory = map_parked(tcb.count);
    if (memory == NULL || sim__thread_real.sem_init(&parking->parked, 0, 0) != 0 ||
            pthread_attr_init(&attributes) != 0 ||
            pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return false;
    }
    bool made = pthread_attr_setstack(&attributes, memory, PARKED_SIZE) == 0 &&
                sim__thread_real.pthread_create(&id, &attributes, park, parking) == 0;
    while (made && sim__thread_real.sem_wait(&parking->parked) != 0) {
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return made;
}

/* The first thread begins with what constructors have left in the world's own variables. */
static void
copy_of_world(const struct pieces *to)
{
    struct pieces from;
    find_pieces(&from);
    for (uint32_t i = 0; i < to->count; i++) {
        rt_assert(to->all[i].size == from.all[i].size);
        if (to->all[i].program) {
            memcpy(to->all[i].start, from.all[i].start, to->all[i].size);
        }
    }
}

/* Outside of the run's memory, with the world's pointer. */
static bool
make_slot(void)
{
    struct parking parking;
    if (!make_parked(&parking)) {
        return false;
    }
    if (tcb.count == 0) {
        copy_of_world(&parking.pieces);
    }
    tcb.slots[tcb.count].pointer = parking.pointer;
    tcb.slots[tcb.count].parts.first = sim_images_count();
    for (uint32_t i = 0; i < parking.pieces.count; i++) {
        if (sim_images_add(parking.pieces.all[i].start, parking.pieces.all[i].size, false) !=
                RT_OK) {
            return false;
        }
    }
    if (add_messages(parking.pointer, false) != RT_OK) {
        return false;
    }
    tcb.slots[tcb.count].parts.count = sim_images_count() - tcb.slots[tcb.count].parts.first;
    tcb.count++;
    return true;
}

/* ---- Giving. --------------------------------------------------------------------------------- */

void
sim_thread_pointers_want(void)
{
    tcb.wanted = true;
}

bool
sim__pointers_are_wanted(void)
{
    look();
    return sim_thread_pointers_possible() &&
           (tcb.wanted || tcb.claim.size > 0 || sim_images_have_tls());
}

/* Called on the stack of the world, or of a thread. The C library is meanwhile in the state of
 * rewake's own process, where its variables are put back after each run. */
static bool
make_slot_now(void)
{
    struct sim_thread *paused = sim_thread_pause();
    bool was = sim_malloc_pause();
    sim__pointer_set(sim__pointer_of_world);
    size_t size = sim_images_size();
    char *of_run = sim_heap_map(NULL, size);
    (void)sim_images_copy_out(of_run);
    sim_images_leave();
    bool made = make_slot();
    (void)sim_images_copy_back(of_run);
    sim_heap_unmap(of_run, size);
    sim__pointer_set(
            paused != NULL && paused->pointer != 0 ? paused->pointer : sim__pointer_of_world);
    sim_malloc_unpause(was);
    sim_thread_resume(paused);
    return made;
}

static uint32_t
free_slot(const struct sim_threads *threads)
{
    uint32_t slot = 0;
    while (slot < SIM__SLOTS && threads->slots[slot] == SIM__SLOT_TAKEN) {
        slot++;
    }
    return slot;
}

void
sim__pointer_give(struct sim_thread *thread)
{
    struct sim_world *world = thread->actor.world;
    struct sim_threads *threads = sim__threads(world);
    uint32_t slot = free_slot(threads);
    if (slot == SIM__SLOTS || (slot == tcb.count && !make_slot_now())) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_LIMIT, world->current, 0,
                "there is no thread pointer for another thread: at most %u threads at a time",
                SIM__SLOTS);
    }
    if (threads->slots[slot] == SIM__SLOT_USED) {
        sim_images_restore_some(tcb.slots[slot].parts);
    }
    threads->slots[slot] = SIM__SLOT_TAKEN;
    thread->slot = slot;
    thread->pointer = tcb.slots[slot].pointer;
}

void
sim__pointer_take(struct sim_thread *thread)
{
    if (thread->pointer != 0) {
        sim__threads(thread->actor.world)->slots[thread->slot] = SIM__SLOT_USED;
        thread->pointer = 0;
    }
}
