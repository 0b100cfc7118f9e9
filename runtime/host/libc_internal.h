/*
 * libc_internal.h -- what the hosts use of glibc, for musl, which has it in the kernel's form only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_HOST_LIBC_INTERNAL_H
#define RT_HOST_LIBC_INTERNAL_H

#ifdef __GLIBC__
#include <sys/pidfd.h>
#else
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PIDFD_NONBLOCK O_NONBLOCK
#define pidfd_open(pid, flags) ((int)syscall(SYS_pidfd_open, (pid), (flags)))
#define epoll_pwait2(epoll, events, max, timeout, mask) \
    ((int)syscall(SYS_epoll_pwait2, (epoll), (events), (max), (timeout), (mask), _NSIG / 8))
/* It has no names: an error is its description. */
#define strerrorname_np(error) strerror(error)
#define strerrordesc_np(error) strerror(error)
#endif

#endif
