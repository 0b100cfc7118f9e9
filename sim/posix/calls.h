/*
 * calls.h -- every call that is simulated, with its C signature.
 *
 * X(type, name, parameters, arguments): the executable exports `name`; on a simulated thread it
 * calls sim__posix_<name>, elsewhere the C library's own (call.c). A(type, alias, name, …): another
 * name for the same. V(name, …): one that returns nothing. A test holds README.md against all
 * lists.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_POSIX_CALLS_H
#define SIM_POSIX_CALLS_H

/* clang-format off */

/* time.c */
#define SIM_POSIX_TIME(X) \
    X(int, clock_gettime, (clockid_t clock, struct timespec *ret), (clock, ret)) \
    X(int, clock_getres, (clockid_t clock, struct timespec *ret), (clock, ret)) \
    X(int, gettimeofday, (struct timeval *ret, void *zone), (ret, zone)) \
    X(int, timespec_get, (struct timespec *ret, int base), (ret, base)) \
    X(time_t, time, (time_t *ret), (ret)) \
    X(clock_t, clock, (void), ()) \
    X(clock_t, times, (struct tms *ret), (ret)) \
    X(int, nanosleep, (const struct timespec *ask, struct timespec *rest), (ask, rest)) \
    X(int, clock_nanosleep, \
            (clockid_t clock, int flags, const struct timespec *ask, \
                    struct timespec *rest), (clock, flags, ask, rest)) \
    X(int, usleep, (useconds_t us), (us)) \
    X(unsigned, sleep, (unsigned s), (s)) \
    X(int, sched_yield, (void), ())

/* random.c */
#define SIM_POSIX_RANDOM(X) \
    X(ssize_t, getrandom, (void *to, size_t size, unsigned flags), (to, size, flags)) \
    X(int, getentropy, (void *to, size_t size), (to, size)) \
    X(uint32_t, arc4random, (void), ()) \
    X(uint32_t, arc4random_uniform, (uint32_t n), (n))

/* system.c */
#define SIM_POSIX_SYSTEM(X) \
    X(pid_t, getpid, (void), ()) \
    X(pid_t, getppid, (void), ()) \
    X(pid_t, gettid, (void), ()) \
    X(pid_t, getpgid, (pid_t pid), (pid)) \
    X(uid_t, getuid, (void), ()) \
    X(int, uname, (struct utsname *ret), (ret)) \
    X(int, gethostname, (char *to, size_t size), (to, size)) \
    X(long, sysconf, (int name), (name)) \
    X(int, get_nprocs, (void), ()) \
    X(long, get_phys_pages, (void), ()) \
    X(int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *ret), (pid, size, ret)) \
    X(int, pthread_getaffinity_np, (pthread_t thread, size_t size, cpu_set_t *ret), \
            (thread, size, ret)) \
    X(int, pthread_setaffinity_np, (pthread_t thread, size_t size, const cpu_set_t *set), \
            (thread, size, set)) \
    X(int, pthread_getschedparam, (pthread_t thread, int *ret_policy, struct sched_param *ret), \
            (thread, ret_policy, ret)) \
    X(int, pthread_setschedparam, \
            (pthread_t thread, int policy, const struct sched_param *param), \
            (thread, policy, param)) \
    X(int, sched_setaffinity, (pid_t pid, size_t size, const cpu_set_t *set), (pid, size, set)) \
    X(int, sched_getcpu, (void), ()) \
    X(int, getcpu, (unsigned *ret_cpu, unsigned *ret_node), (ret_cpu, ret_node)) \
    X(int, getrusage, (int who, struct rusage *ret), (who, ret)) \
    X(int, getrlimit, (int what, struct rlimit *ret), (what, ret)) \
    X(int, setrlimit, (int what, const struct rlimit *limit), (what, limit)) \
    X(int, getpriority, (int which, id_t who), (which, who)) \
    X(int, setpriority, (int which, id_t who, int value), (which, who, value)) \
    X(int, getloadavg, (double *ret, int count), (ret, count)) \
    X(int, sysinfo, (struct sysinfo *ret), (ret)) \
    X(int, prctl, (int what, long a, long b, long c, long d), (what, a, b, c, d)) \
    X(mode_t, umask, (mode_t mask), (mask))

/* number.c, move.c */
#define SIM_POSIX_NUMBER(X) \
    X(int, close, (int fd), (fd)) \
    X(int, close_range, (unsigned first, unsigned last, int flags), (first, last, flags)) \
    X(int, dup, (int fd), (fd)) \
    X(int, dup2, (int fd, int to), (fd, to)) \
    X(int, dup3, (int fd, int to, int flags), (fd, to, flags)) \
    X(int, fcntl, (int fd, int command, long value), (fd, command, value)) \
    X(int, ioctl, (int fd, unsigned long request, void *to), (fd, request, to)) \
    X(int, flock, (int fd, int operation), (fd, operation)) \
    X(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size)) \
    X(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size)) \
    X(ssize_t, readv, (int fd, const struct iovec *vector, int count), (fd, vector, count)) \
    X(ssize_t, writev, (int fd, const struct iovec *vector, int count), (fd, vector, count)) \
    X(ssize_t, pread, (int fd, void *to, size_t size, off_t place), (fd, to, size, place)) \
    X(ssize_t, pwrite, \
            (int fd, const void *from, size_t size, off_t place), (fd, from, size, place)) \
    X(ssize_t, preadv, \
            (int fd, const struct iovec *vector, int count, \
                    off_t place), (fd, vector, count, place)) \
    X(ssize_t, pwritev, \
            (int fd, const struct iovec *vector, int count, \
                    off_t place), (fd, vector, count, place)) \
    X(ssize_t, sendfile, (int to, int from, off_t *place, size_t size), (to, from, place, size)) \
    X(int, vdprintf, (int fd, const char *format, va_list arguments), (fd, format, arguments))

/* checked.c */
#define SIM_POSIX_CHECKED(X) \
    X(ssize_t, __read_chk, (int fd, void *to, size_t size, size_t room), (fd, to, size, room)) \
    X(ssize_t, __pread_chk, \
            (int fd, void *to, size_t size, off_t place, \
                    size_t room), (fd, to, size, place, room)) \
    X(ssize_t, __recv_chk, (int fd, void *to, size_t size, size_t room, int flags), \
            (fd, to, size, room, flags)) \
    X(ssize_t, __recvfrom_chk, \
            (int fd, void *to, size_t size, size_t room, int flags, struct sockaddr *ret, \
                    socklen_t *ret_size), (fd, to, size, room, flags, ret, ret_size)) \
    X(char *, __getcwd_chk, (char *to, size_t size, size_t room), (to, size, room)) \
    X(int, __gethostname_chk, (char *to, size_t size, size_t room), (to, size, room)) \
    X(int, __open_2, (const char *path, int flags), (path, flags)) \
    X(int, __openat_2, (int folder, const char *path, int flags), (folder, path, flags)) \
    X(int, __vdprintf_chk, (int fd, int flag, const char *format, va_list arguments), \
            (fd, flag, format, arguments))

/* poll.c, event.c */
#define SIM_POSIX_WAIT(X) \
    X(int, poll, (struct pollfd *list, nfds_t count, int ms), (list, count, ms)) \
    X(int, __poll_chk, \
            (struct pollfd *list, nfds_t count, int ms, size_t room), (list, count, ms, room)) \
    X(int, ppoll, \
            (struct pollfd *list, nfds_t count, const struct timespec *time, \
                    const sigset_t *mask), (list, count, time, mask)) \
    X(int, __ppoll_chk, \
            (struct pollfd *list, nfds_t count, const struct timespec *time, \
                    const sigset_t *mask, size_t room), (list, count, time, mask, room)) \
    X(int, select, \
            (int count, fd_set *in, fd_set *out, fd_set *err, \
                    struct timeval *time), (count, in, out, err, time)) \
    X(int, pselect, \
            (int count, fd_set *in, fd_set *out, fd_set *err, const struct timespec *time, \
                    const sigset_t *mask), (count, in, out, err, time, mask)) \
    X(int, epoll_create, (int size), (size)) \
    X(int, epoll_create1, (int flags), (flags)) \
    X(int, epoll_ctl, \
            (int epoll, int operation, int fd, \
                    struct epoll_event *event), (epoll, operation, fd, event)) \
    X(int, epoll_wait, \
            (int epoll, struct epoll_event *ret, int max, int ms), (epoll, ret, max, ms)) \
    X(int, epoll_pwait, \
            (int epoll, struct epoll_event *ret, int max, int ms, \
                    const sigset_t *mask), (epoll, ret, max, ms, mask)) \
    X(int, epoll_pwait2, \
            (int epoll, struct epoll_event *ret, int max, const struct timespec *time, \
                    const sigset_t *mask), (epoll, ret, max, time, mask)) \
    X(int, eventfd, (unsigned value, int flags), (value, flags)) \
    X(int, eventfd_read, (int fd, eventfd_t *ret), (fd, ret)) \
    X(int, eventfd_write, (int fd, eventfd_t value), (fd, value)) \
    X(int, timerfd_create, (clockid_t clock, int flags), (clock, flags)) \
    X(int, timerfd_settime, \
            (int fd, int flags, const struct itimerspec *value, \
                    struct itimerspec *ret_old), (fd, flags, value, ret_old)) \
    X(int, timerfd_gettime, (int fd, struct itimerspec *ret), (fd, ret)) \
    X(int, pipe, (int ret[2]), (ret)) \
    X(int, pipe2, (int ret[2], int flags), (ret, flags))

/* socket.c, move.c, names.c */
#define SIM_POSIX_SOCKET(X) \
    X(int, socketpair, \
            (int domain, int type, int protocol, int ret[2]), (domain, type, protocol, ret)) \
    X(int, shutdown, (int fd, int how), (fd, how)) \
    X(ssize_t, recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags)) \
    X(ssize_t, send, (int fd, const void *from, size_t size, int flags), (fd, from, size, flags)) \
    X(int, socket, (int domain, int type, int protocol), (domain, type, protocol)) \
    X(int, bind, (int fd, const struct sockaddr *address, socklen_t size), (fd, address, size)) \
    X(int, listen, (int fd, int backlog), (fd, backlog)) \
    X(int, connect, (int fd, const struct sockaddr *address, socklen_t size), \
            (fd, address, size)) \
    X(int, accept, (int fd, struct sockaddr *ret, socklen_t *size), (fd, ret, size)) \
    X(int, accept4, (int fd, struct sockaddr *ret, socklen_t *size, int flags), \
            (fd, ret, size, flags)) \
    X(int, getsockname, (int fd, struct sockaddr *ret, socklen_t *size), (fd, ret, size)) \
    X(int, getpeername, (int fd, struct sockaddr *ret, socklen_t *size), (fd, ret, size)) \
    X(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t size), \
            (fd, level, name, value, size)) \
    X(int, getsockopt, (int fd, int level, int name, void *ret, socklen_t *size), \
            (fd, level, name, ret, size)) \
    X(ssize_t, sendto, \
            (int fd, const void *from, size_t size, int flags, const struct sockaddr *address, \
                    socklen_t address_size), (fd, from, size, flags, address, address_size)) \
    X(ssize_t, recvfrom, \
            (int fd, void *to, size_t size, int flags, struct sockaddr *ret, \
                    socklen_t *ret_size), (fd, to, size, flags, ret, ret_size)) \
    X(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), \
            (fd, message, flags)) \
    X(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags)) \
    X(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags), \
            (fd, messages, count, flags)) \
    X(int, recvmmsg, \
            (int fd, struct mmsghdr *messages, unsigned count, int flags, \
                    struct timespec *time), (fd, messages, count, flags, time)) \
    X(int, getaddrinfo, \
            (const char *node, const char *service, const struct addrinfo *hints, \
                    struct addrinfo **ret), (node, service, hints, ret)) \
    X(int, getnameinfo, \
            (const struct sockaddr *address, socklen_t size, char *host, \
                    socklen_t host_size, char *service, socklen_t service_size, int flags), \
            (address, size, host, host_size, service, service_size, flags)) \
    X(struct hostent *, gethostbyname, (const char *name), (name))

/* file.c, memory.c */
#define SIM_POSIX_FILE(X) \
    X(int, open, (const char *path, int flags, mode_t mode), (path, flags, mode)) \
    X(int, openat, \
            (int folder, const char *path, int flags, mode_t mode), (folder, path, flags, mode)) \
    X(int, creat, (const char *path, mode_t mode), (path, mode)) \
    X(off_t, lseek, (int fd, off_t place, int whence), (fd, place, whence)) \
    X(int, ftruncate, (int fd, off_t size), (fd, size)) \
    X(int, truncate, (const char *path, off_t size), (path, size)) \
    X(int, fsync, (int fd), (fd)) \
    X(int, isatty, (int fd), (fd)) \
    X(int, stat, (const char *path, struct stat *ret), (path, ret)) \
    X(int, fstat, (int fd, struct stat *ret), (fd, ret)) \
    X(int, fstatat, \
            (int folder, const char *path, struct stat *ret, \
                    int flags), (folder, path, ret, flags)) \
    X(int, access, (const char *path, int mode), (path, mode)) \
    X(int, faccessat, \
            (int folder, const char *path, int mode, int flags), (folder, path, mode, flags)) \
    X(int, unlink, (const char *path), (path)) \
    X(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags)) \
    X(int, rmdir, (const char *path), (path)) \
    X(int, remove, (const char *path), (path)) \
    X(int, mkdir, (const char *path, mode_t mode), (path, mode)) \
    X(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode)) \
    X(int, rename, (const char *from, const char *to), (from, to)) \
    X(int, renameat, \
            (int from_folder, const char *from, int to_folder, \
                    const char *to), (from_folder, from, to_folder, to)) \
    X(int, mkstemp, (char *name), (name)) \
    X(int, mkostemp, (char *name, int flags), (name, flags)) \
    X(int, mkstemps, (char *name, int tail), (name, tail)) \
    X(int, mkostemps, (char *name, int tail, int flags), (name, tail, flags)) \
    X(int, chdir, (const char *path), (path)) \
    X(char *, getcwd, (char *to, size_t size), (to, size)) \
    X(void *, mmap, \
            (void *at, size_t size, int access, int flags, int fd, \
                    off_t place), (at, size, access, flags, fd, place)) \
    X(int, munmap, (void *at, size_t size), (at, size)) \
    X(int, mprotect, (void *at, size_t size, int access), (at, size, access)) \
    X(int, madvise, (void *at, size_t size, int advice), (at, size, advice)) \
    X(void *, mremap, \
            (void *at, size_t size, size_t new_size, int flags, \
                    void *to), (at, size, new_size, flags, to))

/* interval.c */
#define SIM_POSIX_INTERVAL(X) \
    X(unsigned, alarm, (unsigned s), (s)) \
    X(int, getitimer, (int which, struct itimerval *ret), (which, ret)) \
    X(int, setitimer, \
            (int which, const struct itimerval *value, struct itimerval *ret_old), \
            (which, value, ret_old)) \
    X(int, timer_create, (clockid_t clock, struct sigevent *event, timer_t *ret), \
            (clock, event, ret)) \
    X(int, timer_settime, \
            (timer_t id, int flags, const struct itimerspec *value, \
                    struct itimerspec *ret_old), (id, flags, value, ret_old)) \
    X(int, timer_gettime, (timer_t id, struct itimerspec *ret), (id, ret)) \
    X(int, timer_getoverrun, (timer_t id), (id)) \
    X(int, timer_delete, (timer_t id), (id))

/* stdio.c */
#define SIM_POSIX_STDIO(X) \
    X(FILE *, fopen, (const char *path, const char *mode), (path, mode)) \
    X(FILE *, fdopen, (int fd, const char *mode), (fd, mode)) \
    X(FILE *, tmpfile, (void), ()) \
    X(int, fileno, (FILE *file), (file))

/* signal.c */
#define SIM_POSIX_SIGNAL(X) \
    X(int, kill, (pid_t pid, int number), (pid, number)) \
    X(int, pthread_kill, (pthread_t thread, int number), (thread, number)) \
    X(int, raise, (int number), (number)) \
    X(int, sigqueue, (pid_t pid, int number, union sigval value), (pid, number, value)) \
    X(int, sigaction, \
            (int number, const struct sigaction *action, \
                    struct sigaction *ret_before), (number, action, ret_before)) \
    X(sighandler_t, signal, (int number, sighandler_t handler), (number, handler)) \
    X(int, sigprocmask, \
            (int how, const sigset_t *set, sigset_t *ret_before), (how, set, ret_before)) \
    X(int, pthread_sigmask, \
            (int how, const sigset_t *set, sigset_t *ret_before), (how, set, ret_before)) \
    X(int, sigpending, (sigset_t *ret), (ret)) \
    X(int, sigaltstack, (const stack_t *stack, stack_t *ret_before), (stack, ret_before)) \
    X(int, sigsuspend, (const sigset_t *mask), (mask)) \
    X(int, pause, (void), ()) \
    X(int, sigwait, (const sigset_t *set, int *ret), (set, ret)) \
    X(int, sigwaitinfo, (const sigset_t *set, siginfo_t *ret), (set, ret)) \
    X(int, sigtimedwait, \
            (const sigset_t *set, siginfo_t *ret, const struct timespec *time), (set, ret, time))

#define SIM_POSIX_CALLS(X) \
    SIM_POSIX_TIME(X) \
    SIM_POSIX_RANDOM(X) \
    SIM_POSIX_SYSTEM(X) \
    SIM_POSIX_NUMBER(X) \
    SIM_POSIX_CHECKED(X) \
    SIM_POSIX_WAIT(X) \
    SIM_POSIX_SOCKET(X) \
    SIM_POSIX_FILE(X) \
    SIM_POSIX_STDIO(X) \
    SIM_POSIX_INTERVAL(X) \
    SIM_POSIX_SIGNAL(X)

#define SIM_POSIX_ALIASES(A) \
    A(FILE *, fopen64, fopen, (const char *path, const char *mode), (path, mode)) \
    A(FILE *, tmpfile64, tmpfile, (void), ()) \
    A(int, fileno_unlocked, fileno, (FILE *file), (file)) \
    A(pid_t, getpgrp, getpid, (void), ()) \
    A(pid_t, getsid, getpgid, (pid_t pid), (pid)) \
    A(uid_t, geteuid, getuid, (void), ()) \
    A(gid_t, getgid, getuid, (void), ()) \
    A(gid_t, getegid, getuid, (void), ()) \
    A(int, get_nprocs_conf, get_nprocs, (void), ()) \
    A(long, get_avphys_pages, get_phys_pages, (void), ()) \
    A(int, getrlimit64, getrlimit, (int what, struct rlimit *ret), (what, ret)) \
    A(int, setrlimit64, setrlimit, (int what, const struct rlimit *limit), (what, limit)) \
    A(int, fcntl64, fcntl, (int fd, int command, long value), (fd, command, value)) \
    A(ssize_t, pread64, pread, \
            (int fd, void *to, size_t size, off_t place), (fd, to, size, place)) \
    A(ssize_t, __pread64_chk, __pread_chk, \
            (int fd, void *to, size_t size, off_t place, \
                    size_t room), (fd, to, size, place, room)) \
    A(ssize_t, pwrite64, pwrite, \
            (int fd, const void *from, size_t size, off_t place), (fd, from, size, place)) \
    A(ssize_t, preadv64, preadv, \
            (int fd, const struct iovec *vector, int count, \
                    off_t place), (fd, vector, count, place)) \
    A(ssize_t, pwritev64, pwritev, \
            (int fd, const struct iovec *vector, int count, \
                    off_t place), (fd, vector, count, place)) \
    A(ssize_t, sendfile64, sendfile, \
            (int to, int from, off_t *place, size_t size), (to, from, place, size)) \
    A(int, open64, open, (const char *path, int flags, mode_t mode), (path, flags, mode)) \
    A(int, openat64, openat, \
            (int folder, const char *path, int flags, mode_t mode), (folder, path, flags, mode)) \
    A(int, __open64_2, __open_2, (const char *path, int flags), (path, flags)) \
    A(int, __openat64_2, __openat_2, \
            (int folder, const char *path, int flags), (folder, path, flags)) \
    A(int, creat64, creat, (const char *path, mode_t mode), (path, mode)) \
    A(off_t, lseek64, lseek, (int fd, off_t place, int whence), (fd, place, whence)) \
    A(int, ftruncate64, ftruncate, (int fd, off_t size), (fd, size)) \
    A(int, truncate64, truncate, (const char *path, off_t size), (path, size)) \
    A(int, fdatasync, fsync, (int fd), (fd)) \
    A(int, stat64, stat, (const char *path, struct stat *ret), (path, ret)) \
    A(int, lstat, stat, (const char *path, struct stat *ret), (path, ret)) \
    A(int, lstat64, stat, (const char *path, struct stat *ret), (path, ret)) \
    A(int, fstat64, fstat, (int fd, struct stat *ret), (fd, ret)) \
    A(int, fstatat64, fstatat, \
            (int folder, const char *path, struct stat *ret, \
                    int flags), (folder, path, ret, flags)) \
    A(int, mkstemp64, mkstemp, (char *name), (name)) \
    A(int, mkostemp64, mkostemp, (char *name, int flags), (name, flags)) \
    A(void *, mmap64, mmap, \
            (void *at, size_t size, int access, int flags, int fd, \
                    off_t place), (at, size, access, flags, fd, place))

#define SIM_POSIX_VOIDS(V) \
    V(closefrom, (int first), (first)) \
    V(arc4random_buf, (void *to, size_t size), (to, size)) \
    V(freeaddrinfo, (struct addrinfo *info), (info))

/* R(name): refused on a simulated thread. Where the result of one is not known to a run, the run
 * would not be a function of its seed. All take integers and pointers, at most six. */
#define SIM_POSIX_REFUSED(R) \
    R(link) R(linkat) R(symlink) R(symlinkat) R(mknod) R(mkfifo) R(mount) \
    R(statfs) R(statfs64) R(fstatfs) R(fstatfs64) R(statvfs) R(statvfs64) R(fstatvfs) \
    R(fstatvfs64) R(fdopendir) R(scandir) R(scandir64) R(ftw) R(nftw) R(fts_open) R(freopen) \
    R(freopen64) R(inotify_init) R(inotify_init1) R(inotify_add_watch) R(fanotify_init) \
    R(shm_open) R(shm_unlink) R(mq_open) R(shmget) R(shmat) R(semget) R(semop) R(msgget) \
    R(splice) R(tee) R(vmsplice) R(aio_read) R(aio_write) R(lio_listio) R(ptrace) \
    R(posix_openpt) R(openpty) R(forkpty) R(clock_settime) R(settimeofday) R(adjtime) \
    R(setns) R(unshare) R(clone) \
    R(wait) R(waitpid) R(waitid) R(wait3) R(wait4) R(syslog) R(getifaddrs) \
    R(gethostbyaddr) R(getpwnam) R(sethostname) R(chmod) R(fchmod) R(fchmodat) R(chown) \
    R(lchown) R(fchown) R(fchownat) R(mkdtemp) R(utimensat) R(futimens) R(utimes) R(utime) \
    R(fallocate) R(posix_fallocate) R(tcgetattr) R(tcsetattr) R(signalfd) R(pthread_sigqueue) \
    R(sem_open) R(aio_read64) R(aio_write64) R(getaddrinfo_a)

/* L(name): fails with ENOSYS, as with a kernel that lacks it; its callers have another way. */
#define SIM_POSIX_LACKING(L) \
    L(statx) L(pidfd_open) L(copy_file_range) L(preadv2) L(pwritev2) L(memfd_create) \
    L(name_to_handle_at) L(process_vm_readv)

/* clang-format on */
#endif
