/*
 * probe.h -- what the runtime reports to a watcher.
 *
 * A probe is one call out of the runtime: "a waker was stored here", "this task
 * was woken". With RT_PROBES the simulator defines the functions below and
 * records each call; without it a probe compiles to nothing. The switch
 * changes no struct, no signature and no control flow, so what is tested is what
 * ships.
 *
 * Sites. A report of a lost wake-up needs two source lines: where in the runtime
 * the waker was stored, and the user's line that caused it. So every public
 * function that stores, clones or wakes is a macro around `<name>_at`, which
 * takes its caller's site as its last argument; inside, the runtime adds its
 * own. A site is a static record in a dedicated linker section; the watcher
 * numbers it when the program or the library is loaded: `id` is made from file
 * name, function and the site's number in it, never from an address or a line.
 *
 * Objects. Everything that a task can wait for carries `struct rt_object`: a magic
 * word and a number, 0 without probes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_BASE_PROBE_H
#define RT_BASE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rt_context;

struct rt_site {
    const char *file;
    const char *function;
    uint32_t line;
    uint32_t counter; /* Orders two sites of one line. */
    uint32_t id;      /* 0 until the watcher has numbered the sites. */
    uint32_t mark;    /* The watcher's: what is special about the site; 0: nothing. */
    const char *text; /* … described; without a mark, what C++ calls the function; or NULL. */
};

/* What an object is. The number is part of traces: append only. */
#define RT_OBJECT_LIST(X) \
    X(NONE, "nothing") \
    X(TASK, "task") \
    X(SLOT, "slot") \
    X(QUEUE, "wait queue") \
    X(TIMER, "timer") \
    X(POLLABLE, "pollable") \
    X(JOIN, "join") \
    X(SOURCE, "source") \
    X(USER, "object") \
    X(GROUP, "group") \
    X(CHANNEL, "channel") \
    X(NOTIFY, "notify") \
    X(SEMAPHORE, "semaphore") \
    X(MUTEX, "mutex") \
    X(FIBER, "fiber") \
    X(OPERATION, "operation")

enum rt_object_kind {
#define RT_OBJECT_ENUM(name, text) RT_OBJECT_##name,
    RT_OBJECT_LIST(RT_OBJECT_ENUM)
#undef RT_OBJECT_ENUM
            RT_OBJECT_KINDS
};

/* What is reported. The numbers are part of traces: append only. */
#define RT_PROBE_LIST(X) \
    X(POST, "post", "a task was posted; object: the task") \
    X(POLL, "poll", "a poll of a task begins; object: the task") \
    X(POLLED, "polled", "a poll has returned; argument: the rt_poll value") \
    X(COMPLETE, "complete", "a task has finished; object: the task") \
    X(CANCEL, "cancel", "a task was cancelled; object: the task") \
    X(PARK, "park", "a task parked itself (T13); object: the task") \
    X(CLEANUP, "cleanup", "a task's cleanup is called; object: the task") \
    X(WAKE, "wake", "a task was woken; argument: 0 queued, 1 coalesced, 2 during its own poll") \
    X(WAKE_DEAD, "wake-dead", "a wake for a task that has finished (T8)") \
    X(STORE, "store", "a waker was stored; object: the slot; argument: whose waker") \
    X(KEEP, "keep", "the same task stored again; the slot keeps what it has (W5)") \
    X(REPLACE, "replace", "another waker took the slot (W11); argument: whose waker is gone") \
    X(FIRE, "fire", "a slot was emptied and its waker woken; argument: whose waker") \
    X(FIRE_EMPTY, "fire-empty", "a wake of an empty slot: nothing happened (W6)") \
    X(ERASE, "erase", "a slot was emptied without a wake; argument: whose waker") \
    X(CLONE, "clone", "a waker was cloned; argument: whose") \
    X(DROP, "drop", "a waker was dropped; argument: whose") \
    X(SUBWAKE, "subwake", "a sub-waker was woken; object: its combinator; argument: the child") \
    X(ARM, "arm", "a timer was started; argument: its deadline") \
    X(EXPIRE, "expire", "a timer came due; argument: its deadline") \
    X(DISARM, "disarm", "a timer was cancelled; argument: its deadline") \
    X(WAIT, "wait", "a wait for a pollable was registered; object: the pollable's source") \
    X(UNWAIT, "unwait", "a wait was cancelled; object: the pollable's source") \
    X(TURN, "turn", "the reactor asks the host; argument: pollables in the list") \
    X(TURNED, "turned", "the host has answered; argument: how many are ready") \
    X(CONSUME, "consume", "something was taken: bytes, an item, a permit; argument: how much") \
    X(PUT, "put", "something was put in: an item, a permit, a message; argument: how much") \
    X(GRANT, "grant", "a waiter was assigned something, to be taken yet; argument: how much") \
    X(UNGRANT, "ungrant", "a waiter left without what it was granted; argument: how much") \
    X(SHUT, "shut", "something was closed: a channel, a semaphore; object: it") \
    X(YIELD, "yield", "a task yields: its quota or budget is used up; argument: ns, units") \
    X(SUSPEND, "suspend", "a fiber leaves its stack; object: the fiber; argument: why") \
    X(RESUME, "resume", "a fiber continues; object: the fiber; argument: 1 when it is cancelled") \
    X(SUBMIT, "submit", "an operation was handed to the host; object: the operation") \
    X(DONE, "done", "the host has completed an operation; object: it; argument: its result") \
    X(ASK, "ask", "a task asks whether to yield (its quota); argument: 1: it is to") \
    X(DESTROY, "destroy", "an item that no receiver will take is destroyed; object: where it was") \
    X(REFUSE, "refuse", "a call that does not wait got nothing, or found no space; object: it") \
    X(MERGE, "merge", "what was put in is one with what is there already; object: it") \
    X(UNHEARD, "unheard", "an event reached no subscriber; object: where it was posted") \
    X(LISTEN, "listen", "a subscription was made; object: where its events are posted") \
    X(UNLISTEN, "unlisten", "a subscription was ended; object: where its events were posted")

enum rt_probe_kind {
#define RT_PROBE_ENUM(name, text, meaning) RT_PROBE_##name,
    RT_PROBE_LIST(RT_PROBE_ENUM)
#undef RT_PROBE_ENUM
            RT_PROBE_KINDS
};

/* First member of everything that a task can wait for. */
struct rt_object {
    uint32_t magic;
    uint32_t id; /* Assigned by the watcher; 0 without one. */
};

/* An object's audit: NULL, or what is wrong. */
typedef const char *(*rt_audit_fn)(const struct rt_object *object);

#ifdef RT_PROBES

/*
 * Which kinds the watcher records now, one bit each: a probe that is off costs a test of one bit.
 * Supplied by the watcher.
 */
extern uint64_t rt_probe_wanted;

/* Supplied by the watcher. `site` is in the runtime, `await` in its user's code; both can be 0. */
void rt_probe_emit(enum rt_probe_kind kind, uint32_t object, const struct rt_site *site,
        const struct rt_site *await, uint64_t argument);

/* Supplied by the watcher: why the waker of the next STORE or KEEP is stored; borrowed, or 0. */
void rt_probe_reason(const char *reason);

/* Supplied by the watcher: a number for a new object of `kind`. */
uint32_t rt_probe_object(enum rt_object_kind kind);

/*
 * Supplied by the watcher: from now on it may call `audit` on `object` between any two steps. It
 * returns NULL when the object is consistent, else one sentence for people ("2 permits are free
 * while a task queues"), static, and changes nothing. NULL: `object` has ended, no call follows.
 */
void rt_probe_audit(const struct rt_object *object, rt_audit_fn audit);

/*
 * Supplied by the watcher: the stack of `context` is entered, or left for the stack that resumed
 * it; called on the resuming stack both times.
 * `context->outer` belongs to the watcher.
 */
void rt_probe_context(struct rt_context *context, bool entered);

/* Supplied by the watcher: `context` has been prepared on its stack, and is valid there until it
 * has finished. `context->deepest` belongs to the watcher. */
void rt_probe_prepared(struct rt_context *context);

/* Supplied by the watcher, and called before `size` bytes of a message are copied: `sends`, into
 * what holds it on its way, else out of that. NULL: it does not want to know. */
extern void (*rt_probe_moves)(void *to, const void *from, size_t size, bool sends);

#define RT_PROBE(kind, object, site, await, argument) \
    do { \
        if ((rt_probe_wanted & UINT64_C(1) << RT_PROBE_##kind) != 0) { \
            rt_probe_emit(RT_PROBE_##kind, (object), (site), (await), (argument)); \
        } \
    } while (0)
#define RT_PROBE_REASON(reason) \
    do { \
        if ((rt_probe_wanted & UINT64_C(1) << RT_PROBE_STORE) != 0) { \
            rt_probe_reason(reason); \
        } \
    } while (0)
#define RT_PROBE_OBJECT(kind) rt_probe_object(RT_OBJECT_##kind)
#define RT_PROBE_AUDIT(object, audit) rt_probe_audit((object), (audit))
#define RT_PROBE_CONTEXT(context, entered) rt_probe_context((context), (entered))
#define RT_PROBE_MOVES(to, from, size, sends) \
    do { \
        if (rt_probe_moves != NULL) { \
            rt_probe_moves((to), (from), (size), (sends)); \
        } \
    } while (0)
#define RT_PROBE_PREPARED(context) rt_probe_prepared(context)

/* Explicit, because a compiler may align a static object to more than it needs: in the section
 * the records are contiguous. */
#define RT_SITE_ALIGN 8

/*
 * g++ emits some records of a file as COMDAT (those inside functions of a class) and others not,
 * and refuses a section that has both. So each gets a section name that differs after the
 * character at which the assembler begins a comment.
 */
#if defined(__cplusplus) && !defined(__clang__)
#define RT__TEXT_OF(number) #number
#define RT__TEXT(number) RT__TEXT_OF(number)
#ifdef __aarch64__
#define RT_SITES_SECTION "rt_sites,\"aw\",@progbits //" RT__TEXT(__COUNTER__)
#else
#define RT_SITES_SECTION "rt_sites,\"aw\",@progbits #" RT__TEXT(__COUNTER__)
#endif
#else
#define RT_SITES_SECTION "rt_sites"
#endif

/* The source location of this use, as the address of a static record; each use has its own. */
#ifdef __cplusplus
/* A lambda's `__func__` says nothing: the watcher takes the enclosing function from this. */
#define RT_HERE RT_HERE_MARKED(0, __PRETTY_FUNCTION__)
#else
#define RT_HERE RT_HERE_MARKED(0, 0)
#endif

/* The same, with `mark` and `text`: the watcher finds it even when no run reaches it. */
#define RT_HERE_MARKED(mark, text) \
    (__extension__({ \
        static struct rt_site rt__site \
                __attribute__((section(RT_SITES_SECTION), used, aligned(RT_SITE_ALIGN))) = { \
                        __FILE__, __func__, __LINE__, __COUNTER__, 0, (mark), (text)}; \
        (const struct rt_site *)&rt__site; \
    }))

#else

/* The arguments are not evaluated, but must compile. */
#define RT_PROBE(kind, object, site, await, argument) \
    do { \
        (void)sizeof(object); \
        (void)sizeof(site); \
        (void)sizeof(await); \
        (void)sizeof(argument); \
    } while (0)
#define RT_PROBE_REASON(reason) ((void)sizeof(reason))
#define RT_PROBE_OBJECT(kind) ((uint32_t)0)
#define RT_PROBE_AUDIT(object, audit) \
    do { \
        (void)sizeof(object); \
        (void)(rt_audit_fn)(audit); \
    } while (0)
#define RT_PROBE_CONTEXT(context, entered) ((void)sizeof(context))
#define RT_PROBE_MOVES(to, from, size, sends) ((void)sizeof(sends))
#define RT_PROBE_PREPARED(context) ((void)sizeof(context))
#ifdef RT_SMALL
#define RT_HERE ((const struct rt_site *)0)
#else
/* Nothing numbers it: it is for reports about a program that runs (host/watchdog.h). */
#define RT_HERE \
    (__extension__({ \
        static const struct rt_site rt__site = {__FILE__, __func__, __LINE__, 0, 0, 0, 0}; \
        &rt__site; \
    }))
#endif
#define RT_HERE_MARKED(mark, text) RT_HERE

#endif

#ifdef __cplusplus
}
#endif
#endif
