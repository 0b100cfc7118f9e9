/*
 * on_uring.h -- the names of the host over io_uring in place of those of the host over epoll.
 *
 * Tests of the one that are included after this are tests of the other. What they define for other
 * files has other names too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_HOST_ON_URING_H
#define RT_TESTS_HOST_ON_URING_H

#include "runtime/host/epoll.h"
#include "runtime/host/uring.h"

#define rt_epoll rt_uring
#define rt_epoll_config rt_uring_config
#define rt_epoll_init rt_uring_init
#define rt_epoll_fini rt_uring_fini
#define rt_epoll_subscribe rt_uring_subscribe
#define rt_epoll_kind rt_uring_kind
#define waits enters
#define epoll uring_host

#define worker_start uring_worker_start
#define workers_run uring_workers_run
#define metal_listen uring_metal_listen
#define metal_connect uring_metal_connect

#endif
