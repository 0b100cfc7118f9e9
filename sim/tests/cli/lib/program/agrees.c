/*
 * agrees.c -- what calls of threads and signals return: one line for each case, which rewake must
 * be able to print too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static const struct timespec past = {1, 0};

/* What `fn` returns in another thread. */
static long
in_thread(void *(*fn)(void *), void *argument)
{
    pthread_t thread;
    void *result = NULL;
    pthread_create(&thread, NULL, fn, argument);
    pthread_join(thread, &result);
    return (long)result;
}

static void *
unlocks(void *mutex)
{
    return (void *)(long)pthread_mutex_unlock(mutex);
}

static void *
tries(void *mutex)
{
    return (void *)(long)pthread_mutex_trylock(mutex);
}

static void *
waits_past(void *mutex)
{
    return (void *)(long)pthread_mutex_timedlock(mutex, &past);
}

static void
mutexes(void)
{
    static const int types[] = {
            PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE};
    for (int i = 0; i < 3; i++) {
        pthread_mutexattr_t attributes;
        pthread_mutex_t mutex;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, types[i]);
        pthread_mutex_init(&mutex, &attributes);
        int lock = pthread_mutex_lock(&mutex);
        int again = i > 0 ? pthread_mutex_lock(&mutex) : 0;
        int same = pthread_mutex_trylock(&mutex);
        long other = i > 0 ? in_thread(unlocks, &mutex) : 0;
        printf("mutex %d: %d %d %d %ld %ld %ld\n", i, lock, again, same, other,
                in_thread(tries, &mutex), in_thread(waits_past, &mutex));
        int last = pthread_mutex_unlock(&mutex);
        int more = i > 0 ? pthread_mutex_unlock(&mutex) : 0;
        int most = i > 0 ? pthread_mutex_unlock(&mutex) : 0;
        printf("unlock %d: %d %d %d\n", i, last, more, most);
    }
}

static void
conditions(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    const struct timespec bad = {1, 1000000000};
    pthread_mutex_lock(&mutex);
    int timed = pthread_cond_timedwait(&cond, &mutex, &past);
    int wrong = pthread_cond_timedwait(&cond, &mutex, &bad);
    printf("cond: %d %d %d\n", timed, wrong, pthread_cond_signal(&cond));
    pthread_mutex_unlock(&mutex);
}

static void *
reads(void *lock)
{
    return (void *)(long)pthread_rwlock_tryrdlock(lock);
}

static void *
writes(void *lock)
{
    return (void *)(long)pthread_rwlock_timedwrlock(lock, &past);
}

static void
rwlocks(void)
{
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_rwlock_rdlock(&lock);
    long write = in_thread(writes, &lock);
    int try = pthread_rwlock_trywrlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    int same = pthread_rwlock_rdlock(&lock);
    int twice = pthread_rwlock_wrlock(&lock);
    printf("rwlock: %ld %d %d %d %ld\n", write, try, same, twice, in_thread(reads, &lock));
}

static void
semaphores(void)
{
    sem_t sem;
    int value = 0;
    sem_init(&sem, 0, 1);
    int first = sem_trywait(&sem);
    int second = sem_trywait(&sem);
    int why = errno;
    int timed = sem_timedwait(&sem, &past);
    printf("semaphore: %d %d %d %d %d", first, second, why == EAGAIN, timed, errno == ETIMEDOUT);
    sem_post(&sem);
    sem_getvalue(&sem, &value);
    printf(" %d\n", value);
}

static void *
arrives(void *barrier)
{
    return (void *)(long)pthread_barrier_wait(barrier);
}

static void
barriers(void)
{
    pthread_barrier_t barrier;
    pthread_t thread;
    void *other = NULL;
    int none = pthread_barrier_init(&barrier, NULL, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, arrives, &barrier);
    int own = pthread_barrier_wait(&barrier);
    pthread_join(thread, &other);
    printf("barrier: %d %d\n", none, own + (int)(long)other);
    printf("serial: %d\n", own);
}

static void
joins(void)
{
    pthread_t self = pthread_self();
    pthread_t thread;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    printf("join itself: %d\n", pthread_join(self, NULL));
    pthread_create(&thread, NULL, tries, &mutex);
    printf("detach: %d %d\n", pthread_detach(thread), pthread_kill(self, 0));
    printf("kill: %d\n", pthread_kill(self, 999));
}

static int order[8];
static int taken;

static void
take(int number)
{
    order[taken++] = number == SIGUSR1 ? 1 : number == SIGUSR2 ? 2 : 3;
}

static void
signals(void)
{
    sigset_t set, pending;
    const struct timespec none = {0, 0};
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGRTMIN);
    signal(SIGUSR1, take);
    signal(SIGUSR2, take);
    signal(SIGRTMIN, take);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise(SIGRTMIN);
    raise(SIGUSR2);
    raise(SIGUSR1);
    raise(SIGUSR1);
    raise(SIGRTMIN);
    sigpending(&pending);
    printf("pending: %d %d %d\n", sigismember(&pending, SIGUSR1), sigismember(&pending, SIGRTMIN),
            sigismember(&pending, SIGTERM));
    printf("first: %d\n", sigtimedwait(&set, NULL, &none) == SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    printf("handled: %d, then", taken);
    for (int i = 0; i < taken; i++) {
        printf(" %d", order[i]);
    }
    printf("\n");
    int rest = sigtimedwait(&set, NULL, &none);
    printf("none: %d %d\n", rest, errno == EAGAIN);
}

static void *
signals_main(void *thread)
{
    pthread_kill(*(pthread_t *)thread, SIGUSR1);
    return NULL;
}

/* A wait whose mask lets a signal through, blocked till then, that another thread sends before or
 * in the wait; `ready` is a descriptor, or -1. */
static void
masked(const char *name, int how, int ready)
{
    sigset_t set, none;
    pthread_t thread, self = pthread_self();
    struct epoll_event event = {.events = EPOLLIN};
    struct pollfd polled = {.fd = ready, .events = POLLIN};
    int epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, ready, &event);
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    taken = 0;
    errno = 0;
    pthread_create(&thread, NULL, signals_main, &self);
    if (how != 0 && ready >= 0) {
        pthread_join(thread, NULL);
    }
    int count = how == 0   ? pselect(0, NULL, NULL, NULL, NULL, &none)
                : how == 1 ? ppoll(&polled, 1, NULL, &none)
                           : epoll_pwait(epoll, &event, 1, -1, &none);
    printf("%s: %d %d, handled %d\n", name, count, count < 0 && errno == EINTR, taken);
    if (how == 0 || ready < 0) {
        pthread_join(thread, NULL);
    }
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    close(epoll);
}

static void
waits_with_masks(void)
{
    int ready = eventfd(1, 0);
    masked("pselect", 0, -1);
    masked("ppoll", 1, -1);
    masked("epoll_pwait", 2, -1);
    masked("ppoll, ready", 1, ready);
    masked("epoll_pwait, ready", 2, ready);
    close(ready);
}

static void *
rings(void *fd)
{
    eventfd_write(*(int *)fd, 3);
    return NULL;
}

static void
descriptors(void)
{
    int event = eventfd(0, EFD_NONBLOCK);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    int epoll = epoll_create1(0);
    struct epoll_event asked = {.events = EPOLLIN, .data.u32 = 7}, got = {0};
    const struct itimerspec soon = {.it_value = {0, 1000}};
    struct pollfd list[2] = {{event, POLLIN, 0}, {timer, POLLIN, 0}};
    eventfd_t value = 0;
    uint64_t times = 0;
    epoll_ctl(epoll, EPOLL_CTL_ADD, event, &asked);
    int again = epoll_ctl(epoll, EPOLL_CTL_ADD, event, &asked);
    printf("epoll: %d %d %d\n", again, errno == EEXIST, epoll_wait(epoll, &got, 1, 0));
    in_thread(rings, &event);
    int told = epoll_wait(epoll, &got, 1, -1);
    printf("ready: %d %u\n", told, got.data.u32);
    int polled = poll(list, 2, -1);
    printf("poll: %d %d\n", polled, list[0].revents);
    eventfd_read(event, &value);
    int empty = eventfd_read(event, &value);
    printf("value: %d %d %d\n", (int)value, empty, errno == EAGAIN);
    timerfd_settime(timer, 0, &soon, NULL);
    int ready = poll(list + 1, 1, -1);
    int size = (int)read(timer, &times, sizeof(times));
    printf("timer: %d %d %d\n", ready, size, (int)times);
    close(epoll);
    int closed = epoll_wait(epoll, &got, 1, 0);
    printf("closed: %d %d\n", closed, errno == EBADF);
}

/* Of 16 bytes: a read divides none. */
static void
messages(void)
{
    char bytes[512] = {0};
    int fds[2];
    pipe(fds);
    for (int i = 0; i < 10; i++) {
        write(fds[1], bytes, 16);
    }
    int some = (int)read(fds[0], bytes, 32);
    int rest = (int)read(fds[0], bytes, sizeof(bytes));
    printf("messages: %d %d\n", some, rest);
    close(fds[0]);
    close(fds[1]);
}

static void *
has_a_whole_stack(void *unused)
{
    struct rlimit limit;
    pthread_attr_t attributes;
    size_t size = 0;
    (void)unused;
    getrlimit(RLIMIT_STACK, &limit);
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    return (void *)(long)(limit.rlim_cur == RLIM_INFINITY || size >= limit.rlim_cur);
}

/* ---- Robust mutexes. ------------------------------------------------------------------------- */

static void *
locks(void *mutex)
{
    return (void *)(long)pthread_mutex_lock(mutex);
}

static void *
waits_for(void *mutex)
{
    long error = pthread_mutex_lock(mutex);
    if (error == 0 || error == EOWNERDEAD) {
        pthread_mutex_unlock(mutex);
    }
    return (void *)error;
}

static void
robust(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    pthread_t waiter;
    void *waited = NULL;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    long other = in_thread(locks, &mutex);
    int dead = pthread_mutex_lock(&mutex);
    int consistent = pthread_mutex_consistent(&mutex);
    int again = pthread_mutex_consistent(&mutex);
    printf("robust: %ld %d %d %d %ld\n", other, dead, consistent, again,
            in_thread(unlocks, &mutex));
    pthread_mutex_unlock(&mutex);
    printf("recovered: %d\n", pthread_mutex_lock(&mutex));
    pthread_mutex_unlock(&mutex);
    in_thread(locks, &mutex);
    int tried = pthread_mutex_trylock(&mutex);
    pthread_create(&waiter, NULL, waits_for, &mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(waiter, &waited);
    printf("lost: %d %d %d\n", tried, (int)(long)waited, pthread_mutex_lock(&mutex));
}

/* ---- Cancellation: of every kind of wait. ---------------------------------------------------- */

static int pipe_fds[2], pair[2], counter, instance;
static sem_t no_permit;
static pthread_mutex_t cancel_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t no_signal = PTHREAD_COND_INITIALIZER;
static pthread_t forever;
static sigset_t blocked;
static int cleaned;

static void
cleans(void *mutex)
{
    cleaned++;
    if (mutex != NULL) {
        pthread_mutex_unlock(mutex);
    }
}

static void
wait_at(int how)
{
    static const struct timespec hour = {3600, 0}, late = {4000000000, 0};
    struct pollfd polled = {.fd = pipe_fds[0], .events = POLLIN};
    struct epoll_event event;
    char bytes[65536] = {0};
    struct iovec part = {bytes, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    int number;
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipe_fds[0], &set);
    switch (how) {
    case 0:
        pause();
        break;
    case 1:
        sleep(3600);
        break;
    case 2:
        nanosleep(&hour, NULL);
        break;
    case 3:
        clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, NULL);
        break;
    case 4:
        read(pipe_fds[0], bytes, 1);
        break;
    case 5:
        read(counter, bytes, 8);
        break;
    case 6:
        poll(&polled, 1, -1);
        break;
    case 7:
        select(pipe_fds[0] + 1, &set, NULL, NULL, NULL);
        break;
    case 8:
        epoll_wait(instance, &event, 1, -1);
        break;
    case 9:
        sem_wait(&no_permit);
        break;
    case 10:
        sem_timedwait(&no_permit, &late);
        break;
    case 11:
        pthread_join(forever, NULL);
        break;
    case 12:
        sigwait(&blocked, &number);
        break;
    case 13:
        sigtimedwait(&blocked, NULL, &hour);
        break;
    case 14:
        recv(pair[0], bytes, 1, 0);
        break;
    case 15:
        recvmsg(pair[0], &message, 0);
        break;
    case 16:
        while (write(pair[1], bytes, sizeof(bytes)) > 0) {
        }
        break;
    case 17:
        fgets(bytes, 8, fdopen(dup(pipe_fds[0]), "r"));
        break;
    default:
        for (;;) {
            pthread_testcancel();
            usleep(1);
        }
    }
}

static void *
is_canceled(void *how)
{
    pthread_cleanup_push(cleans, NULL);
    wait_at((int)(long)how);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *
is_canceled_in_cond(void *unused)
{
    pthread_mutex_lock(&cancel_mutex);
    pthread_cleanup_push(cleans, &cancel_mutex);
    for (;;) {
        pthread_cond_wait(&no_signal, &cancel_mutex);
    }
    pthread_cleanup_pop(0);
    return unused;
}

/* Only when it lets itself be. */
static void *
is_canceled_later(void *unused)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    usleep(10);
    int slept = usleep(10);
    printf("disabled: %d\n", slept);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    pause();
    return unused;
}

static void
cancels(const char *name, void *(*fn)(void *), long how)
{
    pthread_t thread;
    void *result = NULL;
    cleaned = 0;
    pthread_create(&thread, NULL, fn, (void *)how);
    if (how % 2 == 1) {
        usleep(1000); /* It waits by then. */
    }
    pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("%s %ld: %d %d\n", name, how, result == PTHREAD_CANCELED, cleaned);
}

static void
cancellations(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    pipe(pipe_fds);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    counter = eventfd(0, 0);
    instance = epoll_create1(0);
    epoll_ctl(instance, EPOLL_CTL_ADD, counter, &event);
    sem_init(&no_permit, 0, 0);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    pthread_create(&forever, NULL, is_canceled, NULL);
    for (long how = 0; how <= 18; how++) {
        cancels("cancel", is_canceled, how);
    }
    cancels("cancel cond", is_canceled_in_cond, 1);
    cancels("cancel later", is_canceled_later, 1);
    pthread_cancel(forever);
    pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
}

/* ---- Signals to the process, and in waits for threads. --------------------------------------- */

static pthread_t main_thread;
static sem_t from_handler;
static int in_main;

static void
posts(int number)
{
    in_main = pthread_equal(pthread_self(), main_thread) != 0;
    if (number == SIGUSR1) {
        sem_post(&from_handler);
    }
}

static void *
kills(void *unused)
{
    usleep(100);
    kill(getpid(), SIGUSR1);
    return unused;
}

static void *
kills_and_waits(void *unused)
{
    usleep(100);
    kill(getpid(), SIGUSR1);
    sem_wait(&from_handler);
    return unused;
}

static void
signals_in_waits(void)
{
    pthread_t thread;
    struct sigaction cuts = {.sa_handler = posts};
    sem_init(&from_handler, 0, 0);
    sem_init(&no_permit, 0, 0);
    main_thread = pthread_self();
    signal(SIGUSR1, posts);
    /* The handler runs in the join. */
    pthread_create(&thread, NULL, kills_and_waits, NULL);
    pthread_join(thread, NULL);
    printf("in join: %d\n", in_main);
    /* SA_RESTART: the semaphore is waited for again, and the handler has posted it. */
    pthread_create(&thread, NULL, kills, NULL);
    int waited = sem_wait(&from_handler);
    pthread_join(thread, NULL);
    printf("sem_wait: %d, %d\n", waited, in_main);
    sigaction(SIGUSR1, &cuts, NULL);
    pthread_create(&thread, NULL, kills, NULL);
    waited = sem_wait(&no_permit);
    printf("sem_wait, cut: %d %d\n", waited, errno == EINTR);
    pthread_join(thread, NULL);
}

/* ---- A handler that blocks, in a wait of its thread. ----------------------------------------- */

static int token[2];
static int got;

static void
takes_a_token(int number)
{
    char byte = (char)number;
    got = (int)read(token[0], &byte, 1);
}

static void *
kills_and_gives(void *thread)
{
    usleep(100);
    pthread_kill(*(pthread_t *)thread, SIGUSR1);
    usleep(100);
    return (void *)write(token[1], "x", 1);
}

static void
blocks_in_handler(void)
{
    pthread_t thread, self = pthread_self();
    int bell = eventfd(0, 0);
    struct pollfd polled = {.fd = bell, .events = POLLIN};
    signal(SIGUSR1, takes_a_token);
    pipe(token);
    pthread_create(&thread, NULL, kills_and_gives, &self);
    int count = poll(&polled, 1, -1);
    printf("in poll: %d %d, took %d\n", count, errno == EINTR, got);
    pthread_join(thread, NULL);
    close(bell);
}

/* With an argument it fails, so that what it printed is kept. */
int
main(int count, char **arguments)
{
    (void)arguments;
    mutexes();
    conditions();
    rwlocks();
    semaphores();
    barriers();
    joins();
    signals();
    waits_with_masks();
    descriptors();
    messages();
    printf("stack: %ld\n", in_thread(has_a_whole_stack, NULL));
    robust();
    cancellations();
    signals_in_waits();
    blocks_in_handler();
    return count > 1;
}
