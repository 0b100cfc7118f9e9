/*
 * numbers.h -- the names of the kernel's calls, for messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <sys/syscall.h>

/* clang-format off */
#define SIM__NUMBERS(N) \
    N(accept) N(accept4) N(acct) N(add_key) N(adjtimex) N(bind) N(bpf) N(brk) N(capget) \
    N(capset) N(chdir) N(chroot) N(clock_adjtime) N(clock_getres) N(clock_gettime) \
    N(clock_nanosleep) N(clock_settime) N(clone) N(close) N(close_range) N(connect) \
    N(copy_file_range) N(delete_module) N(dup) N(dup3) N(epoll_create1) N(epoll_ctl) \
    N(epoll_pwait) N(epoll_pwait2) N(eventfd2) N(execve) N(execveat) N(exit) N(exit_group) \
    N(faccessat) N(faccessat2) N(fadvise64) N(fallocate) N(fanotify_init) N(fanotify_mark) \
    N(fchdir) N(fchmod) N(fchmodat) N(fchown) N(fchownat) N(fcntl) N(fdatasync) N(fgetxattr) \
    N(finit_module) N(flistxattr) N(flock) N(fremovexattr) N(fsconfig) N(fsetxattr) N(fsmount) \
    N(fsopen) N(fspick) N(fstatfs) N(fsync) N(ftruncate) N(futex) N(futex_waitv) \
    N(get_mempolicy) N(get_robust_list) N(getcpu) N(getcwd) N(getdents64) N(getegid) N(geteuid) \
    N(getgid) N(getgroups) N(getitimer) N(getpeername) N(getpgid) N(getpid) N(getppid) \
    N(getpriority) N(getrandom) N(getresgid) N(getresuid) N(getrusage) N(getsid) N(getsockname) \
    N(getsockopt) N(gettid) N(gettimeofday) N(getuid) N(getxattr) N(init_module) \
    N(inotify_add_watch) N(inotify_init1) N(inotify_rm_watch) N(io_cancel) N(io_destroy) \
    N(io_getevents) N(io_pgetevents) N(io_setup) N(io_submit) N(io_uring_enter) \
    N(io_uring_register) N(io_uring_setup) N(ioctl) N(ioprio_get) N(ioprio_set) N(kcmp) \
    N(kexec_file_load) N(kexec_load) N(keyctl) N(kill) N(landlock_add_rule) \
    N(landlock_create_ruleset) N(landlock_restrict_self) N(lgetxattr) N(linkat) N(listen) \
    N(listxattr) N(llistxattr) N(lookup_dcookie) N(lremovexattr) N(lseek) N(lsetxattr) \
    N(madvise) N(mbind) N(membarrier) N(memfd_create) N(migrate_pages) N(mincore) N(mkdirat) \
    N(mknodat) N(mlock) N(mlock2) N(mlockall) N(mmap) N(mount) N(mount_setattr) N(move_mount) \
    N(move_pages) N(mprotect) N(mq_getsetattr) N(mq_notify) N(mq_open) N(mq_timedreceive) \
    N(mq_timedsend) N(mq_unlink) N(mremap) N(msgctl) N(msgget) N(msgrcv) N(msgsnd) N(msync) \
    N(munlock) N(munlockall) N(munmap) N(name_to_handle_at) N(nanosleep) N(nfsservctl) \
    N(open_by_handle_at) N(open_tree) N(openat) N(openat2) N(perf_event_open) N(personality) \
    N(pidfd_getfd) N(pidfd_open) N(pidfd_send_signal) N(pipe2) N(pivot_root) N(pkey_alloc) \
    N(pkey_free) N(pkey_mprotect) N(ppoll) N(prctl) N(pread64) N(preadv) N(preadv2) \
    N(prlimit64) N(process_madvise) N(process_mrelease) N(process_vm_readv) \
    N(process_vm_writev) N(pselect6) N(ptrace) N(pwrite64) N(pwritev) N(pwritev2) N(quotactl) \
    N(quotactl_fd) N(read) N(readahead) N(readlinkat) N(readv) N(reboot) N(recvfrom) \
    N(recvmmsg) N(recvmsg) N(remap_file_pages) N(removexattr) N(renameat2) N(request_key) \
    N(restart_syscall) N(rseq) N(rt_sigaction) N(rt_sigpending) N(rt_sigprocmask) \
    N(rt_sigqueueinfo) N(rt_sigreturn) N(rt_sigsuspend) N(rt_sigtimedwait) N(rt_tgsigqueueinfo) \
    N(sched_get_priority_max) N(sched_get_priority_min) N(sched_getaffinity) N(sched_getattr) \
    N(sched_getparam) N(sched_getscheduler) N(sched_rr_get_interval) N(sched_setaffinity) \
    N(sched_setattr) N(sched_setparam) N(sched_setscheduler) N(sched_yield) N(seccomp) \
    N(semctl) N(semget) N(semop) N(semtimedop) N(sendfile) N(sendmmsg) N(sendmsg) N(sendto) \
    N(set_mempolicy) N(set_robust_list) N(set_tid_address) N(setdomainname) N(setfsgid) \
    N(setfsuid) N(setgid) N(setgroups) N(sethostname) N(setitimer) N(setns) N(setpgid) \
    N(setpriority) N(setregid) N(setresgid) N(setresuid) N(setreuid) N(setsid) N(setsockopt) \
    N(settimeofday) N(setuid) N(setxattr) N(shmat) N(shmctl) N(shmdt) N(shmget) N(shutdown) \
    N(sigaltstack) N(signalfd4) N(socket) N(socketpair) N(splice) N(statfs) N(statx) N(swapoff) \
    N(swapon) N(symlinkat) N(sync) N(sync_file_range) N(syncfs) N(sysinfo) N(syslog) N(tee) \
    N(tgkill) N(timer_create) N(timer_delete) N(timer_getoverrun) N(timer_gettime) \
    N(timer_settime) N(timerfd_create) N(timerfd_gettime) N(timerfd_settime) N(times) N(tkill) \
    N(truncate) N(umask) N(umount2) N(uname) N(unlinkat) N(unshare) N(userfaultfd) N(utimensat) \
    N(vhangup) N(vmsplice) N(wait4) N(waitid) N(write) N(writev)

/* Older forms, of processors that had Linux before. */
#ifdef SYS_open
#define SIM__NUMBERS_OLD(N) \
    N(_sysctl) N(access) N(afs_syscall) N(alarm) N(arch_prctl) N(chmod) N(chown) N(creat) \
    N(create_module) N(dup2) N(epoll_create) N(epoll_ctl_old) N(epoll_wait) N(epoll_wait_old) \
    N(eventfd) N(fork) N(fstat) N(futimesat) N(get_kernel_syms) N(get_thread_area) N(getdents) \
    N(getpgrp) N(getpmsg) N(getrlimit) N(inotify_init) N(ioperm) N(iopl) N(lchown) N(link) \
    N(lstat) N(mkdir) N(mknod) N(modify_ldt) N(newfstatat) N(open) N(pause) N(pipe) N(poll) \
    N(putpmsg) N(query_module) N(readlink) N(rename) N(renameat) N(rmdir) N(security) N(select) \
    N(set_thread_area) N(setrlimit) N(signalfd) N(stat) N(symlink) N(sysfs) N(time) N(tuxcall) \
    N(unlink) N(uselib) N(ustat) N(utime) N(utimes) N(vfork) N(vserver)
#else
#define SIM__NUMBERS_OLD(N)
#endif
/* clang-format on */
