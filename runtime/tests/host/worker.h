/*
 * worker.h -- tasks that make one call of tcp.h after the other, by a script, on the kernel.
 *
 *      l  listen_finish    a  accept into `stream`     c  connect_finish
 *      r  read 4 bytes     w  write "abcd"             W  write 64 KiB until it fails
 *      R  read at most 64 bytes
 *      s  shutdown         x  close                    p  a pause of 2 ms
 *
 * Each answer's error is in `errs`, in the order of the script. An error does not end the script.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_HOST_WORKER_H
#define RT_TESTS_HOST_WORKER_H

#include "runtime/tests/host/metal.h"

#define WORKER_STEPS 16

struct worker {
    struct rt_task task;
    struct rt_tcp_listener *listener;
    struct rt_tcp_stream *stream;
    struct rt_io_wait wait;
    struct rt_sleep pause;
    bool pausing;
    const char *script;
    rt_err errs[WORKER_STEPS];
    size_t sizes[WORKER_STEPS];
    uint32_t done;
};

/* Starts one; `listener` may be NULL where the script needs none. Runs when the caller runs the
 * runtime. */
void worker_start(struct worker *worker, struct metal *metal, const char *name,
        struct rt_tcp_listener *listener, struct rt_tcp_stream *stream, const char *script);

/* Runs all workers to their ends. */
void workers_run(struct metal *metal);

/* A listener on a free port of loopback; its address in *ret_address. */
void metal_listen(
        struct metal *metal, struct rt_tcp_listener *listener, struct rt_net_address *ret_address);

/* A pair of connected streams. */
void metal_connect(struct metal *metal, struct rt_tcp_stream *client, struct rt_tcp_stream *server);

#endif
