/*
 * uring.c -- the ring, and the seam of the host over it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/host/epoll.h"
#include "runtime/host/uring_internal.h"

enum kind { KIND_INSTANT, KIND_NOTIFY, KIND_FETCH, KIND_DESCRIPTOR };

#define KIND_SHIFT 62
#define VALUE_MAX ((UINT64_C(1) << KIND_SHIFT) - 1) /* As a deadline: never. */
#define NS_A_SECOND UINT64_C(1000000000)

_Static_assert(URING_FETCH_HANDLE == (uint64_t)KIND_FETCH << KIND_SHIFT, "one handle");

struct rt_uring_descriptor {
    struct rt_pollable *pollable;
    int descriptor;
    uint32_t what; /* POLLIN, POLLOUT */
    uint32_t generation;
    bool armed; /* The kernel waits for it. */
    bool found; /* Reported since it was armed. */
};

static struct rt_uring *
uring_of(struct rt_host *host)
{
    rt_check(host, RT_HOST_MAGIC);
    return rt_container_of(host, struct rt_uring, host);
}

/* ---- The ring. ------------------------------------------------------------------------------- */

struct io_uring_sqe *
uring_sqe(struct rt_uring *uring)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->kernel->ring);
    if (sqe == NULL) {
        uring_submit(uring);
        sqe = io_uring_get_sqe(&uring->kernel->ring);
    }
    rt_assert(sqe != NULL);
    return sqe;
}

/* The ring belongs to the thread that enters it first. */
static struct io_uring *
own_ring(struct rt_uring *uring)
{
    if (!uring->enabled) {
        /* Not io_uring_enable_rings: liburing 2.3 has it in its header only. */
        long done = syscall(__NR_io_uring_register, uring->kernel->ring.ring_fd,
                IORING_REGISTER_ENABLE_RINGS, NULL, 0);
        rt_assert(done == 0);
        uring->enabled = true;
    }
    return &uring->kernel->ring;
}

void
uring_submit(struct rt_uring *uring)
{
    int submitted = io_uring_submit(own_ring(uring));
    rt_assert(submitted >= 0 || submitted == -EINTR || submitted == -EBUSY);
    uring->enters++;
}

void
uring_cancel(struct rt_uring *uring, uint64_t word)
{
    struct io_uring_sqe *sqe = uring_sqe(uring);
    io_uring_prep_cancel64(sqe, word, 0);
    io_uring_sqe_set_data64(sqe, uring_word(URING_NONE, 0, 0));
}

static void
watch_notify(struct rt_uring *uring)
{
    struct io_uring_sqe *sqe = uring_sqe(uring);
    io_uring_prep_poll_multishot(sqe, uring->eventfd, POLLIN);
    io_uring_sqe_set_data64(sqe, uring_word(URING_NOTIFY, 0, 0));
}

static void
descriptor_completed(struct rt_uring *uring, uint32_t number, uint32_t generation)
{
    struct rt_uring_descriptor *details = &uring->details[number];
    if (details->generation == generation) {
        details->armed = false;
        details->found = true;
    }
}

static void
completed(struct rt_uring *uring, const struct io_uring_cqe *cqe)
{
    uint64_t word = cqe->user_data;
    switch ((enum uring_kind)(word >> 56)) {
    case URING_NONE:
        return;
    case URING_NOTIFY:
        if ((cqe->flags & IORING_CQE_F_MORE) == 0 && cqe->res != -ECANCELED) {
            watch_notify(uring);
        }
        return; /* It has ended the sleep; `notified` says the rest (E9). */
    case URING_DESCRIPTOR:
        descriptor_completed(uring, (uint32_t)(word >> 32) & 0xffffff, (uint32_t)word);
        return;
    case URING_ACCEPT:
    case URING_RECEIVE:
    case URING_WRITABLE:
    case URING_SEND:
    case URING_LINGER:
        uring_net_completed(uring, word, cqe->res, cqe->flags);
        return;
    }
}

static void
take_completions(struct rt_uring *uring)
{
    struct io_uring_cqe *cqe;
    unsigned head;
    unsigned count = 0;
    io_uring_for_each_cqe(&uring->kernel->ring, head, cqe)
    {
        completed(uring, cqe);
        count++;
    }
    io_uring_cq_advance(&uring->kernel->ring, count);
    uring->looked = true;
}

void
uring_look(struct rt_uring *uring)
{
    (void)io_uring_submit_and_get_events(own_ring(uring));
    uring->enters++;
    take_completions(uring);
}

/* Waits for a completion, VALUE_MAX: without limit. Interrupted: none came (E6). */
static void
wait_for_completions(struct rt_uring *uring, uint64_t timeout_ns)
{
    struct io_uring_cqe *cqe;
    struct __kernel_timespec timeout = {.tv_sec = (int64_t)(timeout_ns / NS_A_SECOND),
            .tv_nsec = (long long)(timeout_ns % NS_A_SECOND)};
    if (timeout_ns == 0) {
        uring_look(uring);
        return;
    }
    (void)io_uring_submit_and_wait_timeout(
            own_ring(uring), &cqe, 1, timeout_ns != VALUE_MAX ? &timeout : NULL, NULL);
    uring->enters++;
    take_completions(uring);
}

/* ---- Pollables. ------------------------------------------------------------------------------ */

static void
make_pollable(
        struct rt_uring *uring, enum kind kind, uint64_t value, struct rt_pollable *ret_pollable)
{
    rt_assert(value <= VALUE_MAX);
    *ret_pollable = (struct rt_pollable){.object = {.magic = RT_POLLABLE_MAGIC},
            .host = &uring->host,
            .handle = (uint64_t)kind << KIND_SHIFT | value};
}

static enum kind
kind_of(const struct rt_pollable *pollable)
{
    return (enum kind)(pollable->handle >> KIND_SHIFT);
}

static uint64_t
value_of(const struct rt_pollable *pollable)
{
    return pollable->handle & VALUE_MAX;
}

static struct rt_uring_descriptor *
details_of(const struct rt_uring *uring, const struct rt_pollable *pollable)
{
    rt_assert(kind_of(pollable) == KIND_DESCRIPTOR);
    struct rt_uring_descriptor *details = &uring->details[value_of(pollable)];
    rt_assert(details->pollable == pollable);
    return details;
}

static bool
descriptor_ready(const struct rt_uring_descriptor *details)
{
    struct pollfd query = {.fd = details->descriptor, .events = (short)details->what};
    return poll(&query, 1, 0) != 0; /* Also an error: its own call reports it (P4). */
}

static uint64_t
word_of(const struct rt_uring *uring, const struct rt_uring_descriptor *details)
{
    return uring_word(URING_DESCRIPTOR, (uint32_t)(details - uring->details), details->generation);
}

static void
arm(struct rt_uring *uring, struct rt_uring_descriptor *details)
{
    struct io_uring_sqe *sqe = uring_sqe(uring);
    io_uring_prep_poll_add(sqe, details->descriptor, details->what);
    io_uring_sqe_set_data64(sqe, word_of(uring, details));
    details->armed = true;
    details->found = false;
}

/* A file is always ready, and then blocks: EPERM, as epoll_ctl says. */
static bool
can_be_waited_for(int descriptor)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0) {
        return false;
    }
    errno = EPERM;
    return !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

rt_err
rt_uring_subscribe(
        struct rt_uring *uring, int descriptor, uint32_t what, struct rt_pollable *pollable)
{
    struct rt_key key;
    rt_check(&uring->host, RT_HOST_MAGIC);
    rt_assert(what != 0 && (what & ~(RT_DESCRIPTOR_READABLE | RT_DESCRIPTOR_WRITABLE)) == 0);
    if (!can_be_waited_for(descriptor)) {
        (void)!rt_failed(&uring->failure, "io_uring poll");
        return RT_E_INVALID;
    }
    rt_err err = rt_slab_insert(&uring->descriptors, pollable, &key);
    if (err != RT_OK) {
        return err;
    }
    struct rt_uring_descriptor *details = &uring->details[key.index];
    uint32_t in = (what & RT_DESCRIPTOR_READABLE) != 0 ? POLLIN : 0;
    uint32_t out = (what & RT_DESCRIPTOR_WRITABLE) != 0 ? POLLOUT : 0;
    *details = (struct rt_uring_descriptor){.pollable = pollable,
            .descriptor = descriptor,
            .what = in | out,
            .generation = key.generation};
    make_pollable(uring, KIND_DESCRIPTOR, key.index, pollable);
    return RT_OK;
}

static rt_err
subscribe(struct rt_host *host, enum rt_subscribe what, uint64_t argument,
        struct rt_pollable *pollable)
{
    struct rt_uring *uring = uring_of(host);
    switch (what) {
    case RT_SUBSCRIBE_INSTANT:
        make_pollable(uring, KIND_INSTANT, argument < VALUE_MAX ? argument : VALUE_MAX, pollable);
        return RT_OK;
    case RT_SUBSCRIBE_NOTIFY:
        make_pollable(uring, KIND_NOTIFY, 0, pollable);
        return RT_OK;
    }
    return RT_E_INVALID;
}

static void
drop(struct rt_host *host, struct rt_pollable *pollable)
{
    struct rt_uring *uring = uring_of(host);
    struct rt_key key;
    if (kind_of(pollable) != KIND_DESCRIPTOR) {
        return;
    }
    struct rt_uring_descriptor *details = details_of(uring, pollable);
    if (details->armed) {
        uring_cancel(uring, word_of(uring, details));
        uring_submit(uring); /* Its descriptor may be closed next. */
    }
    details->pollable = NULL;
    details->generation = 0;
    void *found = rt_slab_at(&uring->descriptors, (uint32_t)value_of(pollable), &key);
    rt_assert(found == pollable);
    (void)rt_slab_remove(&uring->descriptors, key);
}

/* ---- The seam. ------------------------------------------------------------------------------- */

static uint64_t
now(struct rt_host *host)
{
    struct timespec time;
    (void)host;
    rt_assert(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
    return (uint64_t)time.tv_sec * NS_A_SECOND + (uint64_t)time.tv_nsec;
}

static bool
is_notified(struct rt_uring *uring)
{
    /* Acquire: what was published before the notification. */
    return atomic_load_explicit(&uring->notified, memory_order_acquire);
}

static bool
ready(struct rt_host *host, const struct rt_pollable *pollable)
{
    struct rt_uring *uring = uring_of(host);
    switch (kind_of(pollable)) {
    case KIND_INSTANT:
        return value_of(pollable) != VALUE_MAX && value_of(pollable) <= now(host);
    case KIND_NOTIFY:
        return is_notified(uring);
    case KIND_FETCH:
        if (!uring_has_events(uring)) {
            uring_look(uring);
        }
        return uring_has_events(uring);
    case KIND_DESCRIPTOR:
        return descriptor_ready(details_of(uring, pollable));
    }
    rt_unreached("a pollable of this host has one of these kinds");
}

/* What a list holds, found in one walk. */
struct survey {
    uint64_t deadline_ns; /* The earliest; VALUE_MAX: none. */
    bool notify;
    bool fetch;
};

/* And arms each descriptor that the kernel does not wait for. */
static struct survey
look_through(struct rt_uring *uring, struct rt_pollable *const *in, uint32_t count)
{
    struct survey survey = {.deadline_ns = VALUE_MAX};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = value_of(in[i]);
        switch (kind_of(in[i])) {
        case KIND_INSTANT:
            survey.deadline_ns = value < survey.deadline_ns ? value : survey.deadline_ns;
            break;
        case KIND_NOTIFY:
            survey.notify = true;
            break;
        case KIND_FETCH:
            survey.fetch = true;
            break;
        case KIND_DESCRIPTOR:
            if (!details_of(uring, in[i])->armed) {
                arm(uring, details_of(uring, in[i]));
            }
            break;
        }
    }
    return survey;
}

static uint64_t
timeout_of(struct rt_uring *uring, const struct survey *survey)
{
    if ((survey->notify && is_notified(uring)) || (survey->fetch && uring_has_events(uring))) {
        return 0;
    }
    if (survey->deadline_ns == VALUE_MAX) {
        return VALUE_MAX;
    }
    uint64_t now_ns = now(&uring->host);
    return survey->deadline_ns > now_ns ? survey->deadline_ns - now_ns : 0;
}

/* What is ready after a wait, as far as the wait has told. */
struct found {
    uint64_t now_ns; /* 0 where the list has no deadline. */
    bool notified;
};

static struct found
find(struct rt_uring *uring, const struct survey *survey)
{
    struct found found = {0, false};
    if (survey->deadline_ns != VALUE_MAX) {
        found.now_ns = now(&uring->host);
    }
    if (survey->notify) {
        /* One read-modify-write takes all notifications so far (E9). Acquire as in is_notified. */
        found.notified = atomic_exchange_explicit(&uring->notified, false, memory_order_acq_rel);
    }
    return found;
}

static bool
is_found(const struct rt_uring *uring, const struct rt_pollable *pollable, struct found found)
{
    switch (kind_of(pollable)) {
    case KIND_INSTANT:
        return value_of(pollable) != VALUE_MAX && value_of(pollable) <= found.now_ns;
    case KIND_NOTIFY:
        return found.notified;
    case KIND_FETCH:
        return uring_has_events(uring);
    case KIND_DESCRIPTOR:
        return details_of(uring, pollable)->found;
    }
    rt_unreached("a pollable of this host has one of these kinds");
}

static rt_err
poll_list(struct rt_host *host, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready)
{
    struct rt_uring *uring = uring_of(host);
    if (count == 0) {
        return RT_E_EMPTY_POLL;
    }
    *ret_ready = 0;
    struct survey survey = look_through(uring, in, count);
    while (*ret_ready == 0) {
        wait_for_completions(uring, timeout_of(uring, &survey));
        struct found found = find(uring, &survey);
        for (uint32_t i = 0; i < count; i++) {
            if (is_found(uring, in[i], found)) {
                ret_indices[(*ret_ready)++] = i;
            }
        }
    }
    return RT_OK;
}

static void
notify(struct rt_host *host)
{
    struct rt_uring *uring = uring_of(host);
    const uint64_t one = 1;
    /* The first since the report writes; before that, what the caller published is (release). */
    if (!atomic_exchange_explicit(&uring->notified, true, memory_order_acq_rel)) {
        int kept = errno;
        rt_assert(write(uring->eventfd, &one, sizeof(one)) == sizeof(one));
        errno = kept;
    }
}

static const struct rt_host_ops host_ops = {
        .now = now,
        .subscribe = subscribe,
        .ready = ready,
        .poll = poll_list,
        .drop = drop,
        .notify = notify,
};

/* ---- Beginning and end. ---------------------------------------------------------------------- */

static rt_err
fail(struct rt_uring *uring, const char *operation, int error)
{
    errno = error;
    return rt_failed(&uring->failure, operation);
}

static rt_err
open_ring(struct rt_uring *uring)
{
    struct io_uring_params params = {.flags = IORING_SETUP_SINGLE_ISSUER |
                                              IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_R_DISABLED |
                                              IORING_SETUP_CQSIZE,
            .cq_entries = 4 * RT_URING_ENTRIES};
    int result = io_uring_queue_init_params(RT_URING_ENTRIES, &uring->kernel->ring, &params);
    if (result < 0) {
        free(uring->kernel);
        uring->kernel = NULL;
        return fail(uring, "io_uring_setup", -result);
    }
    uring->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (uring->eventfd < 0) {
        return rt_failed(&uring->failure, "eventfd");
    }
    watch_notify(uring);
    return RT_OK;
}

static rt_err
allocate(struct rt_uring *uring, uint32_t descriptors)
{
    uring->kernel = calloc(1, sizeof(*uring->kernel));
    uring->entries = calloc(descriptors, sizeof(uring->entries[0]));
    uring->details = calloc(descriptors, sizeof(uring->details[0]));
    if (uring->kernel == NULL || uring->entries == NULL || uring->details == NULL) {
        return fail(uring, "memory for io_uring", ENOMEM);
    }
    rt_slab_init(&uring->descriptors, uring->entries, descriptors);
    return RT_OK;
}

static void
release(struct rt_uring *uring)
{
    if (uring->kernel != NULL) {
        io_uring_queue_exit(&uring->kernel->ring);
        uring_net_fini(uring); /* After it: the kernel wrote there. */
    }
    if (uring->eventfd >= 0) {
        rt_socket_close(uring->eventfd);
    }
    free(uring->kernel);
    free(uring->entries);
    free(uring->details);
}

rt_err
rt_uring_init(struct rt_uring *uring, const struct rt_uring_config *config)
{
    static const struct rt_uring_config usual = {0, false};
    const struct rt_uring_config *how = config != NULL ? config : &usual;
    *uring = (struct rt_uring){.host = {RT_HOST_MAGIC, &host_ops},
            .net = {RT_NET_MAGIC, &uring_net_ops, .short_reads_empty = true},
            .eventfd = -1,
            .ready_first = -1,
            .ready_last = -1,
            .shared_ports = how->shared_ports};
    atomic_init(&uring->notified, false);
    rt_err err = allocate(uring, how->descriptors != 0 ? how->descriptors : RT_URING_DESCRIPTORS);
    err = err == RT_OK ? open_ring(uring) : err;
    err = err == RT_OK ? uring_net_init(uring) : err;
    if (err != RT_OK) {
        release(uring);
    }
    return err;
}

void
rt_uring_fini(struct rt_uring *uring)
{
    rt_check(&uring->host, RT_HOST_MAGIC);
    if (uring->descriptors.used != 0) {
        rt_fault(RT_E_IN_USE, "io_uring", "a host was ended while descriptors were subscribed");
    }
    release(uring);
    uring->host.magic = 0;
    uring->net.magic = 0;
}
