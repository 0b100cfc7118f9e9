/*
 * uring.c -- the ring, and the seam of the host over it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/host/uring_internal.h"

#define NS_A_SECOND UINT64_C(1000000000)

static struct rt_uring *
uring_of(struct rt_linux *base)
{
    rt_check(&base->host, RT_HOST_MAGIC);
    return rt_container_of(base, struct rt_uring, base);
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
    io_uring_prep_poll_multishot(sqe, uring->base.eventfd, POLLIN);
    io_uring_sqe_set_data64(sqe, uring_word(URING_NOTIFY, 0, 0));
}

static void
descriptor_completed(struct rt_uring *uring, uint32_t number, uint32_t generation)
{
    struct rt_linux_descriptor *details = &uring->base.details[number];
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
    case URING_CHANGED:
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

/* Waits for a completion, RT_LINUX_NEVER: without limit. Interrupted: none came (E6). */
static void
wait_for_completions(struct rt_linux *base, uint64_t timeout_ns)
{
    struct rt_uring *uring = uring_of(base);
    struct io_uring_cqe *cqe;
    struct __kernel_timespec timeout = {.tv_sec = (int64_t)(timeout_ns / NS_A_SECOND),
            .tv_nsec = (long long)(timeout_ns % NS_A_SECOND)};
    if (timeout_ns == 0) {
        uring_look(uring);
        return;
    }
    (void)io_uring_submit_and_wait_timeout(
            own_ring(uring), &cqe, 1, timeout_ns != RT_LINUX_NEVER ? &timeout : NULL, NULL);
    uring->enters++;
    take_completions(uring);
}

/* ---- Descriptors as pollables. --------------------------------------------------------------- */

static uint64_t
word_of(const struct rt_uring *uring, const struct rt_linux_descriptor *details)
{
    uint32_t number = (uint32_t)(details - uring->base.details);
    return uring_word(URING_DESCRIPTOR, number, details->generation);
}

static void
arm(struct rt_linux *base, struct rt_linux_descriptor *details)
{
    struct rt_uring *uring = uring_of(base);
    struct io_uring_sqe *sqe = uring_sqe(uring);
    io_uring_prep_poll_add(sqe, details->descriptor, details->what);
    io_uring_sqe_set_data64(sqe, word_of(uring, details));
    details->armed = true;
    details->found = false;
}

/* A file is always ready, and then blocks: EPERM, as epoll_ctl says. */
static rt_err
check_descriptor(struct rt_linux *base, struct rt_linux_descriptor *details)
{
    struct stat about;
    if (fstat(details->descriptor, &about) == 0) {
        if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) {
            return RT_OK;
        }
        errno = EPERM;
    }
    (void)!rt_failed(&base->failure, "io_uring poll");
    return RT_E_INVALID;
}

static void
remove_descriptor(struct rt_linux *base, struct rt_linux_descriptor *details)
{
    struct rt_uring *uring = uring_of(base);
    if (details->armed) {
        uring_cancel(uring, word_of(uring, details));
        uring_submit(uring); /* Its descriptor may be closed next. */
    }
}

static bool
has_events(const struct rt_linux *base)
{
    return uring_has_events(rt_container_of(base, struct rt_uring, base));
}

static const struct rt_linux_ops linux_ops = {
        .wait = wait_for_completions,
        .has_events = has_events,
        .add = check_descriptor,
        .arm = arm,
        .remove = remove_descriptor,
};

rt_err
rt_uring_subscribe(
        struct rt_uring *uring, int descriptor, uint32_t what, struct rt_pollable *pollable)
{
    return rt_linux_subscribe(&uring->base, descriptor, what, pollable);
}

/* ---- Beginning and end. ---------------------------------------------------------------------- */

static rt_err
fail(struct rt_uring *uring, const char *operation, int error)
{
    errno = error;
    return rt_failed(&uring->base.failure, operation);
}

static rt_err
open_ring(struct rt_uring *uring)
{
    struct io_uring_params params = {.flags = IORING_SETUP_SINGLE_ISSUER |
                                              IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_R_DISABLED |
                                              IORING_SETUP_CQSIZE,
            .cq_entries = 4 * RT_URING_ENTRIES};
    uring->kernel = calloc(1, sizeof(*uring->kernel));
    if (uring->kernel == NULL) {
        return fail(uring, "memory for io_uring", ENOMEM);
    }
    int result = io_uring_queue_init_params(RT_URING_ENTRIES, &uring->kernel->ring, &params);
    if (result < 0) {
        free(uring->kernel);
        uring->kernel = NULL;
        return fail(uring, "io_uring_setup", -result);
    }
    watch_notify(uring);
    return RT_OK;
}

static void
release(struct rt_uring *uring)
{
    if (uring->kernel != NULL) {
        io_uring_queue_exit(&uring->kernel->ring);
        uring_net_fini(uring); /* After it: the kernel wrote there. */
    }
    free(uring->kernel);
    rt_linux_release(&uring->base);
}

rt_err
rt_uring_init(struct rt_uring *uring, const struct rt_uring_config *config)
{
    static const struct rt_uring_config usual = {0, false};
    const struct rt_uring_config *how = config != NULL ? config : &usual;
    *uring = (struct rt_uring){.ready_first = -1, .ready_last = -1};
    uint32_t descriptors = how->descriptors != 0 ? how->descriptors : RT_URING_DESCRIPTORS;
    rt_err err = rt_linux_init(&uring->base, &linux_ops, &uring_net_ops, descriptors);
    uring->base.shared_ports = how->shared_ports;
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
    rt_linux_check_unused(&uring->base, "io_uring");
    release(uring);
}

static rt_err
make(bool shared_ports, struct rt_failure *failure, struct rt_linux **ret_host)
{
    struct rt_uring_config config = {.shared_ports = shared_ports};
    struct rt_uring *uring = malloc(sizeof(*uring));
    if (uring == NULL) {
        return rt_failed(failure, "memory for a host");
    }
    rt_err err = rt_uring_init(uring, &config);
    if (err != RT_OK) {
        *failure = uring->base.failure;
        free(uring);
        return err;
    }
    *ret_host = &uring->base;
    return RT_OK;
}

static void
end(struct rt_linux *host)
{
    struct rt_uring *uring = uring_of(host);
    rt_uring_fini(uring);
    free(uring);
}

const struct rt_linux_kind rt_uring_kind = {make, end};
