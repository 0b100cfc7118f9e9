/*
 * calls.h -- every call that is simulated, with its C signature.
 *
 * X(type, name, parameters, arguments): the executable exports `name`; on a simulated thread it
 * calls sim__posix_<name>, elsewhere the C library's own (call.c). A(type, alias, name, …): another
 * name for the same. V(name, …): one that returns nothing. A test holds docs/calls.md against
 * all lists.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

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
    X(int, sched_getparam, (pid_t pid, struct sched_param *ret), (pid, ret)) \
    X(long, fpathconf, (int fd, int name), (fd, name)) \
    X(long, pathconf, (const char *path, int name), (path, name)) \
    X(char *, ttyname, (int fd), (fd)) \
    X(int, ttyname_r, (int fd, char *to, size_t size), (fd, to, size)) \
    X(mode_t, umask, (mode_t mask), (mask))

/* user.c */
#define SIM_POSIX_USER(X) \
    X(struct passwd *, getpwnam, (const char *name), (name)) \
    X(struct passwd *, getpwuid, (uid_t id), (id)) \
    X(int, getpwnam_r, \
            (const char *name, struct passwd *to, char *buffer, size_t size, \
                    struct passwd **ret), (name, to, buffer, size, ret)) \
    X(int, getpwuid_r, \
            (uid_t id, struct passwd *to, char *buffer, size_t size, \
                    struct passwd **ret), (id, to, buffer, size, ret)) \
    X(struct group *, getgrnam, (const char *name), (name)) \
    X(struct group *, getgrgid, (gid_t id), (id)) \
    X(int, getgrnam_r, \
            (const char *name, struct group *to, char *buffer, size_t size, \
                    struct group **ret), (name, to, buffer, size, ret)) \
    X(int, getgrgid_r, \
            (gid_t id, struct group *to, char *buffer, size_t size, \
                    struct group **ret), (id, to, buffer, size, ret)) \
    X(char *, getlogin, (void), ()) \
    X(int, getlogin_r, (char *to, size_t size), (to, size)) \
    X(int, getgroups, (int size, gid_t *ret), (size, ret)) \
    X(int, getgrouplist, (const char *user, gid_t group, gid_t *ret, int *count), \
            (user, group, ret, count)) \
    X(int, getresuid, (uid_t *ret_real, uid_t *ret_effective, uid_t *ret_saved), \
            (ret_real, ret_effective, ret_saved)) \
    X(int, setuid, (uid_t id), (id)) \
    X(int, setreuid, (uid_t real, uid_t effective), (real, effective)) \
    X(int, setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved)) \
    X(int, setpgid, (pid_t pid, pid_t group), (pid, group))

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
    X(int, lockf, (int fd, int operation, off_t size), (fd, operation, size)) \
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
    X(ssize_t, __readlink_chk, (const char *path, char *to, size_t size, size_t room), \
            (path, to, size, room)) \
    X(char *, __realpath_chk, (const char *path, char *to, size_t room), (path, to, room)) \
    X(int, __xstat, (int version, const char *path, struct stat *ret), (version, path, ret)) \
    X(int, __lxstat, (int version, const char *path, struct stat *ret), (version, path, ret)) \
    X(int, __fxstat, (int version, int fd, struct stat *ret), (version, fd, ret)) \
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
    X(int, pipe2, (int ret[2], int flags), (ret, flags)) \
    X(int, signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags))

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
    X(struct hostent *, gethostbyname, (const char *name), (name)) \
    X(struct hostent *, gethostbyaddr, (const void *address, socklen_t size, int family), \
            (address, size, family)) \
    X(int, gethostbyname_r, \
            (const char *name, struct hostent *to, char *buffer, size_t size, \
                    struct hostent **ret, int *ret_error), \
            (name, to, buffer, size, ret, ret_error)) \
    X(struct servent *, getservbyname, (const char *name, const char *protocol), \
            (name, protocol)) \
    X(struct servent *, getservbyport, (int port, const char *protocol), (port, protocol)) \
    X(int, getifaddrs, (struct ifaddrs **ret), (ret)) \
    X(unsigned, if_nametoindex, (const char *name), (name)) \
    X(char *, if_indextoname, (unsigned index, char *to), (index, to))

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
    X(int, statx, \
            (int folder, const char *path, int flags, unsigned mask, \
                    struct statx *ret), (folder, path, flags, mask, ret)) \
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
    X(char *, mkdtemp, (char *name), (name)) \
    X(int, chdir, (const char *path), (path)) \
    X(int, fchdir, (int fd), (fd)) \
    X(char *, getcwd, (char *to, size_t size), (to, size)) \
    X(char *, get_current_dir_name, (void), ()) \
    X(void *, mmap, \
            (void *at, size_t size, int access, int flags, int fd, \
                    off_t place), (at, size, access, flags, fd, place)) \
    X(int, munmap, (void *at, size_t size), (at, size)) \
    X(int, mprotect, (void *at, size_t size, int access), (at, size, access)) \
    X(int, madvise, (void *at, size_t size, int advice), (at, size, advice)) \
    X(void *, mremap, \
            (void *at, size_t size, size_t new_size, int flags, \
                    void *to), (at, size, new_size, flags, to))

/* attribute.c, link.c */
#define SIM_POSIX_ATTRIBUTE(X) \
    X(int, chmod, (const char *path, mode_t mode), (path, mode)) \
    X(int, fchmod, (int fd, mode_t mode), (fd, mode)) \
    X(int, fchmodat, (int folder, const char *path, mode_t mode, int flags), \
            (folder, path, mode, flags)) \
    X(int, chown, (const char *path, uid_t user, gid_t group), (path, user, group)) \
    X(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group)) \
    X(int, fchownat, (int folder, const char *path, uid_t user, gid_t group, int flags), \
            (folder, path, user, group, flags)) \
    X(int, utimensat, \
            (int folder, const char *path, const struct timespec *times, \
                    int flags), (folder, path, times, flags)) \
    X(int, futimens, (int fd, const struct timespec *times), (fd, times)) \
    X(int, utimes, (const char *path, const struct timeval *times), (path, times)) \
    X(int, futimes, (int fd, const struct timeval *times), (fd, times)) \
    X(int, utime, (const char *path, const struct utimbuf *times), (path, times)) \
    X(int, fallocate, (int fd, int mode, off_t place, off_t size), (fd, mode, place, size)) \
    X(int, posix_fallocate, (int fd, off_t place, off_t size), (fd, place, size)) \
    X(int, statfs, (const char *path, struct statfs *ret), (path, ret)) \
    X(int, fstatfs, (int fd, struct statfs *ret), (fd, ret)) \
    X(int, statvfs, (const char *path, struct statvfs *ret), (path, ret)) \
    X(int, fstatvfs, (int fd, struct statvfs *ret), (fd, ret)) \
    X(int, lstat, (const char *path, struct stat *ret), (path, ret)) \
    X(int, link, (const char *from, const char *to), (from, to)) \
    X(int, linkat, (int from_folder, const char *from, int to_folder, const char *to, int flags), \
            (from_folder, from, to_folder, to, flags)) \
    X(int, symlink, (const char *target, const char *path), (target, path)) \
    X(int, symlinkat, (const char *target, int folder, const char *path), \
            (target, folder, path)) \
    X(ssize_t, readlink, (const char *path, char *to, size_t size), (path, to, size)) \
    X(ssize_t, readlinkat, (int folder, const char *path, char *to, size_t size), \
            (folder, path, to, size)) \
    X(char *, realpath, (const char *path, char *to), (path, to))

/* directory.c */
#define SIM_POSIX_DIRECTORY(X) \
    X(DIR *, opendir, (const char *path), (path)) \
    X(DIR *, fdopendir, (int fd), (fd)) \
    X(int, closedir, (DIR *directory), (directory)) \
    X(struct dirent *, readdir, (DIR *directory), (directory)) \
    X(int, readdir_r, (DIR *directory, struct dirent *to, struct dirent **ret), \
            (directory, to, ret)) \
    X(long, telldir, (DIR *directory), (directory)) \
    X(int, dirfd, (DIR *directory), (directory)) \
    X(int, scandir, \
            (const char *path, struct dirent ***ret, int (*want)(const struct dirent *), \
                    int (*order)(const struct dirent **, const struct dirent **)), \
            (path, ret, want, order)) \
    X(int, glob, \
            (const char *pattern, int flags, int (*failed)(const char *path, int error), \
                    void *to), (pattern, flags, failed, to))

/* shared.c */
#define SIM_POSIX_SHARED(X) \
    X(sem_t *, sem_open, (const char *name, int flags, mode_t mode, unsigned value), \
            (name, flags, mode, value)) \
    X(int, sem_close, (sem_t *semaphore), (semaphore)) \
    X(int, sem_unlink, (const char *name), (name)) \
    X(int, shm_open, (const char *name, int flags, mode_t mode), (name, flags, mode)) \
    X(int, shm_unlink, (const char *name), (name)) \
    X(int, memfd_create, (const char *name, unsigned flags), (name, flags))

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
    X(int, pthread_sigqueue, (pthread_t thread, int number, union sigval value), \
            (thread, number, value)) \
    X(int, tgkill, (pid_t pid, pid_t thread, int number), (pid, thread, number)) \
    X(int, killpg, (pid_t group, int number), (group, number)) \
    X(int, raise, (int number), (number)) \
    X(int, sigqueue, (pid_t pid, int number, union sigval value), (pid, number, value)) \
    X(int, sigaction, \
            (int number, const struct sigaction *action, \
                    struct sigaction *ret_before), (number, action, ret_before)) \
    X(sighandler_t, signal, (int number, sighandler_t handler), (number, handler)) \
    X(sighandler_t, __sysv_signal, (int number, sighandler_t handler), (number, handler)) \
    X(int, siginterrupt, (int number, int interrupts), (number, interrupts)) \
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
    SIM_POSIX_USER(X) \
    SIM_POSIX_NUMBER(X) \
    SIM_POSIX_CHECKED(X) \
    SIM_POSIX_WAIT(X) \
    SIM_POSIX_SOCKET(X) \
    SIM_POSIX_FILE(X) \
    SIM_POSIX_ATTRIBUTE(X) \
    SIM_POSIX_DIRECTORY(X) \
    SIM_POSIX_SHARED(X) \
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
    A(int, lstat64, lstat, (const char *path, struct stat *ret), (path, ret)) \
    A(int, fstat64, fstat, (int fd, struct stat *ret), (fd, ret)) \
    A(int, fstatat64, fstatat, \
            (int folder, const char *path, struct stat *ret, \
                    int flags), (folder, path, ret, flags)) \
    A(long, __sysconf, sysconf, (int name), (name)) \
    A(int, seteuid, setuid, (uid_t id), (id)) \
    A(int, setgid, setuid, (gid_t id), (id)) \
    A(int, setegid, setuid, (gid_t id), (id)) \
    A(int, setregid, setreuid, (gid_t real, gid_t effective), (real, effective)) \
    A(int, setresgid, setresuid, (gid_t real, gid_t effective, gid_t saved), \
            (real, effective, saved)) \
    A(int, getresgid, getresuid, (gid_t *ret_real, gid_t *ret_effective, gid_t *ret_saved), \
            (ret_real, ret_effective, ret_saved)) \
    A(int, lockf64, lockf, (int fd, int operation, off_t size), (fd, operation, size)) \
    A(int, lchmod, chmod, (const char *path, mode_t mode), (path, mode)) \
    A(int, lchown, chown, (const char *path, uid_t user, gid_t group), (path, user, group)) \
    A(int, lutimes, utimes, (const char *path, const struct timeval *times), (path, times)) \
    A(int, euidaccess, access, (const char *path, int mode), (path, mode)) \
    A(int, eaccess, access, (const char *path, int mode), (path, mode)) \
    A(int, fallocate64, fallocate, \
            (int fd, int mode, off_t place, off_t size), (fd, mode, place, size)) \
    A(int, posix_fallocate64, posix_fallocate, (int fd, off_t place, off_t size), \
            (fd, place, size)) \
    A(int, statfs64, statfs, (const char *path, struct statfs *ret), (path, ret)) \
    A(int, fstatfs64, fstatfs, (int fd, struct statfs *ret), (fd, ret)) \
    A(int, statvfs64, statvfs, (const char *path, struct statvfs *ret), (path, ret)) \
    A(int, fstatvfs64, fstatvfs, (int fd, struct statvfs *ret), (fd, ret)) \
    A(struct dirent *, readdir64, readdir, (DIR *directory), (directory)) \
    A(int, readdir64_r, readdir_r, (DIR *directory, struct dirent *to, struct dirent **ret), \
            (directory, to, ret)) \
    A(int, scandir64, scandir, \
            (const char *path, struct dirent ***ret, int (*want)(const struct dirent *), \
                    int (*order)(const struct dirent **, const struct dirent **)), \
            (path, ret, want, order)) \
    A(int, glob64, glob, \
            (const char *pattern, int flags, int (*failed)(const char *path, int error), \
                    void *to), (pattern, flags, failed, to)) \
    A(int, __xstat64, __xstat, (int version, const char *path, struct stat *ret), \
            (version, path, ret)) \
    A(int, __lxstat64, __lxstat, (int version, const char *path, struct stat *ret), \
            (version, path, ret)) \
    A(int, __fxstat64, __fxstat, (int version, int fd, struct stat *ret), (version, fd, ret)) \
    A(sighandler_t, sysv_signal, __sysv_signal, (int number, sighandler_t handler), \
            (number, handler)) \
    A(sighandler_t, bsd_signal, signal, (int number, sighandler_t handler), (number, handler)) \
    A(sighandler_t, ssignal, signal, (int number, sighandler_t handler), (number, handler)) \
    A(int, mkstemp64, mkstemp, (char *name), (name)) \
    A(int, mkostemp64, mkostemp, (char *name, int flags), (name, flags)) \
    A(void *, mmap64, mmap, \
            (void *at, size_t size, int access, int flags, int fd, \
                    off_t place), (at, size, access, flags, fd, place))

#define SIM_POSIX_VOIDS(V) \
    V(closefrom, (int first), (first)) \
    V(arc4random_buf, (void *to, size_t size), (to, size)) \
    V(freeaddrinfo, (struct addrinfo *info), (info)) \
    V(freeifaddrs, (struct ifaddrs *list), (list)) \
    V(rewinddir, (DIR *directory), (directory)) \
    V(seekdir, (DIR *directory, long place), (directory, place))

/* R(name): refused on a simulated thread. Where the result of one is not known to a run, the run
 * would not be a function of its seed. Those of all three lists take integers and pointers, at most
 * six. */
#define SIM_POSIX_REFUSED(R) \
    R(mknod) R(mknodat) R(mkfifo) R(mkfifoat) R(ftw) R(nftw) R(ftw64) R(nftw64) R(fts_open) \
    R(freopen) R(freopen64) R(inotify_init) R(inotify_init1) R(inotify_add_watch) \
    R(fanotify_init) R(clone) R(mq_open) R(shmget) R(shmat) R(semget) R(semop) R(semctl) R(shmctl) \
    R(msgget) R(splice) R(tee) R(vmsplice) R(aio_read) R(aio_write) R(lio_listio) R(ptrace) \
    R(posix_openpt) R(openpty) R(forkpty) R(getaddrinfo_a) R(aio_read64) R(aio_write64) \
    R(getpwent) R(getgrent) R(getutxent) R(setmntent) R(getspnam) R(klogctl) R(personality)

/* F(name, error): fails with that, as on a machine where it is not there (ENOSYS: its callers have
 * another way), or where the process must not. */
#define SIM_POSIX_FAILING(F) \
    F(pidfd_open, ENOSYS) F(copy_file_range, ENOSYS) F(preadv2, ENOSYS) \
    F(pwritev2, ENOSYS) F(preadv64v2, ENOSYS) F(pwritev64v2, ENOSYS) \
    F(name_to_handle_at, ENOSYS) F(process_vm_readv, ENOSYS) \
    F(wait, ECHILD) F(waitpid, ECHILD) F(waitid, ECHILD) F(wait3, ECHILD) F(wait4, ECHILD) \
    F(tcgetattr, ENOTTY) F(tcsetattr, ENOTTY) F(tcdrain, ENOTTY) F(tcflush, ENOTTY) \
    F(tcflow, ENOTTY) F(tcsendbreak, ENOTTY) F(tcgetpgrp, ENOTTY) F(tcsetpgrp, ENOTTY) \
    F(tcgetsid, ENOTTY) \
    F(getxattr, ENOTSUP) F(lgetxattr, ENOTSUP) F(fgetxattr, ENOTSUP) F(setxattr, ENOTSUP) \
    F(lsetxattr, ENOTSUP) F(fsetxattr, ENOTSUP) F(listxattr, ENOTSUP) F(llistxattr, ENOTSUP) \
    F(flistxattr, ENOTSUP) F(removexattr, ENOTSUP) F(lremovexattr, ENOTSUP) \
    F(fremovexattr, ENOTSUP) \
    F(mount, EPERM) F(umount, EPERM) F(umount2, EPERM) F(pivot_root, EPERM) F(reboot, EPERM) \
    F(swapon, EPERM) F(swapoff, EPERM) F(clock_settime, EPERM) F(settimeofday, EPERM) \
    F(adjtime, EPERM) F(adjtimex, EPERM) F(setns, EPERM) F(unshare, EPERM) \
    F(sethostname, EPERM) F(setgroups, EPERM) F(initgroups, EPERM) F(chroot, EPERM) \
    F(setsid, EPERM) F(capset, EPERM)

/* N(name): returns 0, and does nothing that a run could see. */
#define SIM_POSIX_NOTHING(N) \
    N(mlock) N(munlock) N(mlockall) N(munlockall) N(msync) N(posix_fadvise) N(posix_fadvise64) \
    N(sync) N(syncfs) N(sync_file_range) N(nice) N(sched_setscheduler) N(sched_setparam) \
    N(sched_getscheduler) N(syslog) N(__syslog_chk) N(vsyslog) N(__vsyslog_chk) N(openlog) \
    N(closelog) N(setpwent) N(endpwent) N(setgrent) N(endgrent)

/* The cancellation points of POSIX, and those that Linux adds. */
#define SIM_POSIX_CANCELS(C) \
    C(accept) C(accept4) C(clock_nanosleep) C(close) C(connect) C(creat) C(epoll_pwait) \
    C(epoll_wait) C(fsync) C(getrandom) C(lockf) C(nanosleep) C(open) C(openat) C(pause) \
    C(poll) C(__poll_chk) C(ppoll) C(__ppoll_chk) C(pread) C(preadv) C(pselect) C(pwrite) \
    C(pwritev) C(read) C(__read_chk) C(readv) C(recv) C(__recv_chk) C(recvfrom) \
    C(__recvfrom_chk) C(recvmmsg) C(recvmsg) C(select) C(send) C(sendmmsg) C(sendmsg) C(sendto) \
    C(sigsuspend) C(sigtimedwait) C(sigwait) C(sigwaitinfo) C(sleep) C(usleep) C(write) C(writev)

/* clang-format on */
