/*
 * completion.h -- the other seam: a host that does the work and says when it is done.
 *
 * A readiness host (host.h) says "now you may read". A completion host gets the read
 * with its buffer, and reports later "so many bytes have been read". The model
 * is Linux's io_uring: two queues, both of them small.
 *
 *      push ──▶ submission queue ──enter──▶ host ──▶ completion queue ──▶ reap
 *                                            └─ full: set aside, delivered by the next enter
 *
 * A submission carries `user_data`, chosen by the submitter, and each completion
 * returns it; nothing else identifies the operation. Completions come in any order
 * (U4). One with `more` is not the last of its operation; one without it is (U5).
 *
 * Ownership. The buffer of a submission is the host's from `push` to the final
 * completion (U1): it may write there at any time, and reads there at any time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_COMPLETION_H
#define RT_IO_COMPLETION_H

#include "runtime/io/host.h"

#ifdef __cplusplus
extern "C" {
#endif

enum rt_opcode {
    RT_OPCODE_READ,   /* result: bytes, 0 at the end */
    RT_OPCODE_WRITE,  /* result: bytes */
    RT_OPCODE_ACCEPT, /* result: the number of the new connection */
    RT_OPCODE_POLL,   /* result: which of `interest` is ready; takes nothing (U9) */
    RT_OPCODE_CANCEL  /* result: 0, RT_E_STALE (not found), RT_E_BUSY (too late to stop) (U3) */
};

#define RT_READABLE 1u
#define RT_WRITABLE 2u

/* A request to the host. Fields that an opcode does not name are 0. */
struct rt_submission {
    enum rt_opcode opcode;
    bool multi;         /* READ: fills the buffer piece by piece; ACCEPT, POLL: again and again. */
    int32_t target;     /* The host's number for what is read, written, polled. */
    uint32_t interest;  /* POLL: RT_READABLE | RT_WRITABLE. */
    uint32_t size;      /* READ, WRITE: of the buffer. */
    void *buffer;       /* READ, WRITE; a WRITE does not change it. */
    uint64_t user_data; /* Returned in each completion. */
    uint64_t cancels;   /* CANCEL: the user_data of the operation to be ended. */
};

struct rt_completion {
    uint64_t user_data;
    int32_t result; /* Not negative: by opcode. Negative: an rt_err. */
    bool more;      /* The operation is still live (U5). */
};

struct rt_completion_host;

struct rt_completion_ops {
    /* Puts a copy of `submission` into the submission queue. RT_E_FULL: the queue is full (U7). */
    rt_err (*push)(struct rt_completion_host *host, const struct rt_submission *submission);

    /*
     * Hands the submission queue to the host, and moves completions that were set aside into the
     * completion queue as far as it has space (U7). RT_E_AGAIN: not all submissions were taken,
     * because completions are not reaped or the host lacks memory; those that are left stay in the
     * queue. A completion will come then, or is there: a later enter makes progress.
     */
    rt_err (*enter)(struct rt_completion_host *host);

    /* Takes at most `max` (> 0) completions out of the queue, and returns how many. */
    uint32_t (*reap)(
            struct rt_completion_host *host, struct rt_completion *ret_completions, uint32_t max);

    /* Whether completions were set aside, for `enter` to deliver. */
    bool (*overflowed)(struct rt_completion_host *host);

    /* Makes the pollable "there are completions", those set aside included. It belongs to the
     * readiness seam that the runtime waits on. RT_E_FULL. */
    rt_err (*subscribe)(struct rt_completion_host *host, struct rt_pollable *pollable);
};

/* Embedded first in a host's own struct. */
struct rt_completion_host {
    uint32_t magic; /* RT_COMPLETION_HOST_MAGIC */
    const struct rt_completion_ops *ops;
};

#define RT_COMPLETION_HOST_MAGIC 0x52434f4du

#ifdef __cplusplus
}
#endif
#endif
