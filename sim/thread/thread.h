/*
 * thread.h -- threads of a program as actors of the world, and what they wait at.
 *
 *      the world's stack                    stacks of threads
 *      ─────────────────                    ─────────────────
 *      step of `main` ────── switch ──────▶ main: … pthread_mutex_lock: a decision point
 *                                                         │ the step rule, on main's own stack
 *                                             thread 1 ◀──┘ chosen: switch from thread to thread
 *      the rest of the step ◀─ switch ────── … a stop, a limit, another kind of actor, a quiescence
 *
 * A thread runs until its next *decision point*: before each operation through which threads can
 * affect each other. There the step ends, by the rule of sim/README.md. The thread is at the head
 * of the queue, as it has never stopped being enabled: alternative 0 continues it, and each
 * deviation is a pre-emption. A thread that is at SIM_THREAD_ROW points in a row gives way without
 * a choice: it may wait for another by looking.
 *
 * A call of the program is simulated where `sim_thread_now` is not NULL: on the stack of a
 * simulated thread. On the world's stack, in the parent and between runs it goes to the C library.
 *
 * In the ledger a thread is a task, and what lies between two waits is one poll of it: STORE and
 * POLLED where it blocks, FIRE and WAKE by what wakes it, FIRE_EMPTY where a signal finds no
 * waiter, POLL when it continues, COMPLETE at its end.
 *
 * Ownership. Everything is in the arena of the run, and ends with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <pthread.h>
#include <time.h>

#include "sim/core/process/fiber.h"
#include "sim/core/record/call_fault.h"
#include "sim/core/world.h"

/*
 * 1: the executable exports the calls that a program makes, and plays them. 0: a sanitizer has
 * these names for itself, and calls them before it is ready; no program can be run.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SIM_THREAD_PLAYS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SIM_THREAD_PLAYS 0
#endif
#endif
#ifndef SIM_THREAD_PLAYS
#define SIM_THREAD_PLAYS 1
#endif

/* Decision points in a row at which a thread may continue. */
#define SIM_THREAD_ROW 200u

/* Bytes of a stack, of main too, where the program says nothing: Linux' usual RLIMIT_STACK. Only
 * what is used of it is memory. */
#define SIM_THREAD_STACK ((size_t)8 << 20)

/* What CLOCK_REALTIME shows at the beginning of a run, in nanoseconds since 1970: 2026-01-01. */
#define SIM_THREAD_DATE_NS UINT64_C(1767225600000000000)
/* What CLOCK_MONOTONIC and CLOCK_BOOTTIME show there: programs take 0 for a time that was not set.
 */
#define SIM_THREAD_UPTIME_NS UINT64_C(1000000000000)

struct sim_thread;
struct sim__kept;

/* ---- What threads wait at. ------------------------------------------------------------------- */

/* What kind of thing is at an address: kind, object kind, what a message calls it. */
#define SIM_SYNC_LIST(X) \
    X(MUTEX, MUTEX, "a mutex") \
    X(COND, NOTIFY, "a condition variable") \
    X(RWLOCK, MUTEX, "a read-write lock") \
    X(SEMAPHORE, SEMAPHORE, "a semaphore") \
    X(BARRIER, GROUP, "a barrier") \
    X(ONCE, USER, "a one-time initialization") \
    X(SPIN, MUTEX, "a spin lock") \
    X(FUTEX, USER, "a futex") \
    X(JOIN, JOIN, "the end of a thread") \
    X(SLEEP, TIMER, "its sleep to end") \
    X(HOST, SLOT, "its host") \
    X(VARIABLE, USER, "a variable")

/* The number of what lies on the stack of a thread is at least this; sim_world_object counts up to
 * less. */
#define SIM_STACK_NTH 0x8000u

enum sim_sync_kind {
#define SIM_SYNC_ENUM(name, object, text) SIM_SYNC_##name,
    SIM_SYNC_LIST(SIM_SYNC_ENUM)
#undef SIM_SYNC_ENUM
            SIM_SYNC_KINDS
};

/*
 * What is at an address of the program: its waiting threads, and what the C library would keep in
 * the memory there. That memory is neither read nor written: a statically initialized object, and
 * one that the program copied, are as new.
 */
struct sim_sync {
    uintptr_t address;
    uint32_t kind;            /* enum sim_sync_kind */
    uint32_t object;          /* Its number in events; see sim_sync_object. */
    struct sim_thread *first; /* The waiting threads, the one that waits longest first. */
    struct sim_thread *last;
    struct sim_thread *owner; /* Of a lock; NULL: none. */
    uint32_t depth;           /* How often the owner has locked it. */
    uint32_t value;           /* Of a semaphore: permits; of a barrier, a rwlock: how many. */
    uint32_t flags;           /* The primitive's own. */
    uint32_t count;           /* The primitive's own. */
    struct sim_sync *held;    /* The next in its owner's `robust`. */
};

/*
 * What is at `address`; made when it is asked for the first time, or when another kind of thing was
 * there before. Never NULL. Where its memory is freed the run ends, with verdict use-after-free.
 */
struct sim_sync *sim_sync_at(
        struct sim_world *world, const volatile void *address, enum sim_sync_kind kind);

/* The same for a wake by its address alone, which touches no memory: that may be freed by then, as
 * a lock is that another thread has taken, given back and freed before the wake comes. */
struct sim_sync *sim_sync_of_address(
        struct sim_world *world, const volatile void *address, enum sim_sync_kind kind);

/* The same, as new: the program has initialized it. */
struct sim_sync *sim_sync_init(
        struct sim_world *world, const volatile void *address, enum sim_sync_kind kind);

/*
 * The number of `sync` in events. It is the same in other interleavings of the program: of a
 * variable of a loaded module it is made from its offset, of one on a stack from the thread and the
 * offset there, of others from the thread that used it first.
 */
uint32_t sim_sync_object(struct sim_world *world, struct sim_sync *sync);

/* The number of the variable at `address`, which threads read and write: made likewise. What also
 * is a lock or a futex has two numbers, one for the memory and one for its waiting list. */
uint32_t sim_variable_object(struct sim_world *world, const volatile void *address);

/* "a mutex" …; static. */
const char *sim_sync_name(uint32_t kind);

/*
 * Supplied by the module that knows the program's symbols: writes the name of what is at
 * `address` ("ready", "queue.head") to `buffer` and returns true; false: it has none. Called for
 * reports alone, with sim_thread_now NULL. NULL: objects have no names.
 */
extern bool (*sim_thread_name_of)(const void *address, char *buffer, size_t size);

/*
 * Supplied by the module that knows the program's call sites: the site of the call that returns
 * to `pc`, or NULL. Called at each simulated call: an array lookup. NULL: sites are not known.
 */
extern const struct rt_site *(*sim_thread_site_of)(const void *pc);

/*
 * Whether the running thread's call fails by decision (fault `calls`), and with which errno; 0: it
 * does not. Recorded with `site`. No decision where the fault is off.
 */
int sim_thread_call_error(enum sim_call_fault call, const struct rt_site *site);

/* Ends the run where the program has freed the memory at `address`, which the running thread is
 * about to use. `what` is there: "a mutex". */
void sim_thread_check_freed(const volatile void *address, const char *what);

/* For the message of another failure: a block that was freed, and written afterwards; "": none. */
void sim_thread_put_written(char ret[SIM_MESSAGE_MAX]);

/* The site of the call of the function that this is used in. */
#define SIM_THREAD_HERE sim_thread_site(__builtin_return_address(0))
static inline const struct rt_site *
sim_thread_site(const void *pc)
{
    return sim_thread_site_of != NULL ? sim_thread_site_of(pc) : NULL;
}

/* ---- Threads. -------------------------------------------------------------------------------- */

enum sim_woken {
    SIM_WOKEN,          /* By sim_thread_wake_one or sim_thread_wake_all. */
    SIM_WOKEN_TIMEOUT,  /* Its due time came. */
    SIM_WOKEN_SPURIOUS, /* For nothing: the oracle asks, or a decision. */
    SIM_WOKEN_SIGNAL,   /* A handler has run (sim_thread_on_signal). */
};

/* How a thread waits. */
struct sim_thread_wait {
    struct sim_sync *sync;
    const struct rt_site *site; /* The line of the program; NULL: not known. */
    const char *reason;         /* Static; NULL: what kind of thing it waits at. */
    uint64_t due_ns;            /* It waits no longer than that; SIM_NEVER: for any time. */
    bool spurious;              /* The wait may end for nothing, by its own contract. */
    /* Of a wait in the host: how many things it asks for, each of which may be reported for
     * nothing; see sim_thread_report. 0: it does not wait in its host. */
    uint32_t reports;
    bool outside; /* What is outside of the run may end it: a client, a signal. */
};

/* What a cleanup at the end of a thread calls: key destructors, C++'s thread_local. */
struct sim_thread_cleanup {
    void (*fn)(void *argument);
    void *argument;
    struct sim_thread_cleanup *next;
};

/* The call of the system in progress, as it will be recorded. */
struct sim_called {
    struct sim_call call; /* `number` is SIM_CALL_none: as the call is named. */
    uint32_t object;
    uint32_t site;
    bool begun;  /* It is a step. */
    bool valued; /* `value` is an argument, not the result. */
};

struct sim_thread {
    struct sim_actor actor;
    struct sim_fiber fiber;
    struct sim_thread *next;             /* In the order of creation. */
    struct sim_thread *behind;           /* In the waiting list of `wait.sync`. */
    struct sim_thread_wait wait;         /* The last one; it is in force while `blocked`. */
    struct sim_sync end;                 /* Where those wait that join it. */
    struct sim_thread_cleanup *cleanups; /* Called at its end, the last one first. */
    void *(*fn)(void *);
    void *argument;
    void *result;
    uintptr_t pointer;      /* Its thread pointer; 0: the world's (tcb.h). */
    uint32_t slot;          /* Where that comes from. */
    struct sim__kept *kept; /* What pthread_setspecific has set. */
    uint32_t kept_count;
    void *handlers;                 /* Of pthread_cleanup_push, the newest. */
    struct sim_sync *robust;        /* The robust mutexes that it holds, the newest first. */
    const struct sim_sync *refused; /* What a try did not get, last; NULL: it has got that since. */
    uint32_t bits;                  /* Of FUTEX_WAIT_BITSET. */
    uint32_t object;
    uint32_t number;  /* 0: the first thread of the run. */
    uint32_t row;     /* Decision points in a row. */
    uint32_t report;  /* After SIM_WOKEN_SPURIOUS; see sim_thread_report. */
    const char *call; /* Of the system, that it has made last; static. NULL: none, or by number. */
    struct sim_called called;
    int error; /* errno while another thread runs, where they have one thread pointer. */
    bool blocked;
    bool listed;  /* It is in the waiting list of wait.sync. */
    bool asked;   /* The oracle has woken it. */
    bool asleep;  /* When it is next entered, that is a poll: it was blocked, or is new. */
    bool entered; /* It has begun. */
    bool left;    /* It is left for good, wherever it is: the run ends. */
    bool detached;
    bool joined;
    bool joining;  /* Another thread waits for its end. */
    bool exits;    /* It runs its cleanups. */
    bool canceled; /* pthread_cancel was called for it. */
    bool uncancelable;
    bool cancels_at_once; /* PTHREAD_CANCEL_ASYNCHRONOUS */
    bool cut;             /* Its call of the system ends by EINTR, and then the thread: canceled. */
    bool signaled;        /* A signal may be pending that it takes. */
    bool restarts; /* Every handler that has run in its last wait asks for that (SA_RESTART). */
    bool woke;     /* It has woken another since its last decision point. */
    char name[16];
};

/* On whose stack the processor is; NULL: on none of a simulated thread. */
extern struct sim_thread *sim_thread_now;

/* 1: the processor is on the stack of a simulated thread, 0: on none. The kernel reads it where
 * system calls are guarded (sim/posix/guard.h). */
extern volatile char sim_thread_guarded;

/* How a thread begins. */
struct sim_thread_start {
    const char *name; /* Copied, up to 15 bytes; NULL: "thread 1" … */
    void *(*fn)(void *argument);
    void *argument;
    size_t stack;    /* Bytes; 0: SIM_THREAD_STACK. */
    bool background; /* The run does not wait for it to end. */
    bool detached;
};

/*
 * Makes a thread, which can run from the next decision on. Called by a thread, or in setup. Without
 * a stack, or with too many actors, the run ends with verdict contract.
 */
struct sim_thread *sim_thread_spawn(struct sim_world *world, const struct sim_thread_start *start);

/* Supplied by what keeps more of each thread: called for a new one, by the thread that made it.
 * NULL: not called. */
extern void (*sim_thread_on_spawn)(struct sim_thread *thread);

/*
 * Supplied by what sends signals: runs the handlers of what the calling thread takes, and says
 * whether there was one; with `may_wait` a decision may leave that to a later call. Called for a
 * thread that is `signaled`, at its decision points and where it blocks, but for places of kind
 * SLEEP and HOST, whose callers look themselves.
 */
extern bool (*sim_thread_on_signal)(bool may_wait);

/* Whether `thread` ends at its next cancellation point. */
static inline bool
sim_thread_is_canceled(const struct sim_thread *thread)
{
    return thread->canceled && !thread->uncancelable && !thread->exits;
}

/* A cancellation point: ends the calling thread if it was canceled. */
void sim_thread_cancel_point(void);

/* Ends the calling thread: its cleanups are called, then those are woken that join it. */
__attribute__((noreturn)) void sim_thread_exit(void *result);

/* Waits until `thread` has ended, which must be joinable, and returns its result. */
void *sim_thread_join(struct sim_thread *thread, const struct rt_site *site);

/* The same up to `due_ns`. False: it has not ended by then, and *ret_result is untouched. */
bool sim_thread_join_until(
        struct sim_thread *thread, uint64_t due_ns, const struct rt_site *site, void **ret_result);

/* Ends the program: nothing else is waited for, neither thread nor peer, and the calling thread
 * takes no further step. */
__attribute__((noreturn)) void sim_thread_end_program(void);

/* The thread that the program knows as `id`, and has not joined; NULL: there is none. */
struct sim_thread *sim_thread_of(pthread_t id);

/* The first thread of the run; the others follow by `next`. NULL: there is none. */
struct sim_thread *sim_thread_first(const struct sim_world *world);

/* ---- What a thread calls. Only with sim_thread_now not NULL. --------------------------------- */

/* A decision point, before an operation: another actor may run first. */
void sim_thread_point(void);

/* A decision point after an operation, if that has woken a thread: it may run before the caller's
 * next statement. */
static inline void
sim_thread_point_if_woke(void)
{
    if (sim_thread_now->woke) {
        sim_thread_point();
    }
}

/* The running thread has looked at a clock that had to move on: where no other can run, that is as
 * a wait that its time has ended. */
void sim_thread_let_time_pass(void);

/* Gives way: all others that are enabled now are before it in the queue. */
void sim_thread_yield(void);

/* Blocks the calling thread, at the end of the waiting list. */
enum sim_woken sim_thread_block(const struct sim_thread_wait *wait);

/* After SIM_WOKEN_SPURIOUS of a wait with `reports`: which of the things that it asked for is to be
 * reported, from 1 on; 0: none, as after EINTR. */
static inline uint32_t
sim_thread_report(void)
{
    return sim_thread_now->report;
}

/* ---- What wakes threads, on any stack. ------------------------------------------------------- */

/*
 * Wakes one thread that waits at `sync`: the first one, or, with `choose`, any, by a decision of
 * the calling thread (kind `order`). Returns it; NULL: none waits, which is an event too.
 */
struct sim_thread *sim_thread_wake_one(
        struct sim_world *world, struct sim_sync *sync, const struct rt_site *site, bool choose);

/* Wakes all, in the order in which they began to wait, and returns how many there were. */
uint32_t sim_thread_wake_all(
        struct sim_world *world, struct sim_sync *sync, const struct rt_site *site);

/* Wakes `thread`, which waits at some place; does nothing if it does not. */
void sim_thread_wake(struct sim_thread *thread, const struct rt_site *site);

/* Moves `thread`, which waits, to the end of the waiting list of `to`, as FUTEX_REQUEUE does. */
void sim_thread_move(struct sim_thread *thread, struct sim_sync *to, const struct rt_site *site);

/* ---- Futexes. -------------------------------------------------------------------------------- */

/* The arguments of the system call. */
struct sim_futex {
    uint32_t *word;
    int operation;
    uint32_t value;
    const struct timespec *time; /* NULL: none. */
    uint32_t value2;             /* Where `time` is for others: how many are requeued or woken. */
    uint32_t *word2;
    uint32_t value3;
    const struct rt_site *site; /* Of the call of syscall(); NULL: not known. */
};

/*
 * syscall(SYS_futex, …) on a simulated thread: a decision point, then what the kernel does. Returns
 * its result, or -1 with errno. An atomic of the same address, reported as SIM_SYNC_FUTEX, is the
 * same object.
 */
long sim_thread_futex(const struct sim_futex *call);

/* ---- Calls of the C library by the simulator itself, on a thread's stack. -------------------- */

/* From here on calls are the C library's; returns what sim_thread_resume takes. */
static inline struct sim_thread *
sim_thread_pause(void)
{
    struct sim_thread *paused = sim_thread_now;
    sim_thread_now = NULL;
    sim_thread_guarded = 0;
    return paused;
}

static inline void
sim_thread_resume(struct sim_thread *paused)
{
    sim_thread_now = paused;
    sim_thread_guarded = paused != NULL;
}

/* The thread that runs, if one does, will not be continued: the run ends, or a handler of the
 * simulator was called by a signal that ends the process. */
void sim_thread_leave(void);
