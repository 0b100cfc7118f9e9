/*
 * signal_test.c -- signals: handlers, masks, waiting for one, timers that send one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "sim/tests/posix/posix_lab.h"

static volatile sig_atomic_t handled;

static void
handler(int number)
{
    handled = number;
}

static void
raises(void)
{
    handled = 0;
    EXPECT(signal(SIGUSR1, handler) == SIG_DFL);
    EXPECT_EQ(raise(SIGUSR1), 0);
    EXPECT_EQ(handled, SIGUSR1);
    handled = 0;
    EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
    EXPECT_EQ(handled, SIGUSR1);
}

TEST(posix_raise_runs_the_handler)
{
    posix_lab_run(raises, 10, SIM_VERDICT_PASS);
}

static void
raises_once(void)
{
    handled = 0;
    EXPECT(__sysv_signal(SIGUSR1, handler) == SIG_DFL);
    EXPECT_EQ(raise(SIGUSR1), 0);
    EXPECT_EQ(handled, SIGUSR1);
    EXPECT(signal(SIGUSR1, SIG_IGN) == SIG_DFL);
}

TEST(posix_a_handler_of_system_v_is_called_once)
{
    posix_lab_run(raises_once, 3, SIM_VERDICT_PASS);
}

static void
blocks(void)
{
    sigset_t set, pending;
    siginfo_t info;
    const struct timespec none = {0, 0};
    handled = 0;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR2);
    EXPECT(signal(SIGUSR2, handler) == SIG_DFL);
    EXPECT_EQ(sigprocmask(SIG_BLOCK, &set, NULL), 0);
    EXPECT_EQ(raise(SIGUSR2), 0);
    EXPECT_EQ(handled, 0);
    EXPECT_EQ(sigpending(&pending), 0);
    EXPECT_EQ(sigismember(&pending, SIGUSR2), 1);
    EXPECT_EQ(sigtimedwait(&set, &info, &none), SIGUSR2);
    EXPECT_EQ(sigtimedwait(&set, &info, &none), -1);
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_EQ(raise(SIGUSR2), 0);
    EXPECT_EQ(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
    EXPECT_EQ(handled, SIGUSR2);
}

TEST(posix_a_blocked_signal_waits)
{
    posix_lab_run(blocks, 10, SIM_VERDICT_PASS);
}

static void
interrupted(void)
{
    struct sigaction action = {.sa_handler = handler};
    const struct timespec long_time = {100, 0};
    struct timespec rest = {0, 0};
    handled = 0;
    EXPECT_EQ(sigaction(SIGALRM, &action, NULL), 0);
    unsigned before = alarm(2); /* EXPECT locks a mutex: there the signal may come too. */
    int slept = nanosleep(&long_time, &rest);
    int error = errno;
    EXPECT_EQ(before, 0);
    EXPECT_EQ(slept, -1);
    EXPECT_EQ(error, EINTR);
    EXPECT_EQ(handled, SIGALRM);
    EXPECT(rest.tv_sec > 90 && rest.tv_sec <= 100);
}

TEST(posix_alarm_interrupts_a_sleep)
{
    posix_lab_run(interrupted, 10, SIM_VERDICT_PASS);
}

static void
sends(void)
{
    EXPECT_EQ(usleep(10), 0);
    EXPECT_EQ(kill(getpid(), SIGTERM), 0);
}

static void
waits_for_term(void)
{
    sigset_t set;
    int number = 0;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    EXPECT_EQ(sigprocmask(SIG_BLOCK, &set, NULL), 0);
    struct sim_thread *other = posix_lab_spawn(sends);
    EXPECT_EQ(sigwait(&set, &number), 0);
    EXPECT_EQ(number, SIGTERM);
    posix_lab_join(other);
}

TEST(posix_sigwait_takes_what_another_thread_sends)
{
    posix_lab_run(waits_for_term, 50, SIM_VERDICT_PASS);
}

static void
dies(void)
{
    (void)raise(SIGTERM);
    EXPECT(false);
}

TEST(posix_a_signal_without_handler_ends_the_program)
{
    posix_lab_run(dies, 1, SIM_VERDICT_CRASH);
    EXPECT(strstr(posix_lab_message(), "SIGTERM") != NULL);
}

/* ---- To one thread. -------------------------------------------------------------------------- */

static pthread_t handled_by;
static bool stop;

static void
notes_thread(int number)
{
    handled = number;
    handled_by = pthread_self();
}

static void *
sleeps_until_stopped(void *argument)
{
    while (!stop) {
        (void)usleep(1000);
    }
    return argument;
}

static void
sends_to_one(void)
{
    pthread_t other;
    stop = false;
    handled = 0;
    EXPECT(signal(SIGUSR1, notes_thread) == SIG_DFL);
    EXPECT_EQ(pthread_create(&other, NULL, sleeps_until_stopped, NULL), 0);
    EXPECT_EQ(pthread_kill(other, 0), 0);
    EXPECT_EQ(pthread_kill(other, 999), EINVAL);
    EXPECT_EQ(pthread_kill(other, SIGUSR1), 0);
    while (handled == 0) {
        (void)usleep(1000);
    }
    EXPECT(pthread_equal(handled_by, other));
    stop = true;
    EXPECT_EQ(pthread_join(other, NULL), 0);
}

TEST(posix_pthread_kill_reaches_its_thread_alone)
{
    posix_lab_run(sends_to_one, 100, SIM_VERDICT_PASS);
}

/* ---- signalfd. ------------------------------------------------------------------------------- */

static void
block_usr1(sigset_t *ret_set)
{
    (void)sigemptyset(ret_set);
    (void)sigaddset(ret_set, SIGUSR1);
    EXPECT_EQ(pthread_sigmask(SIG_BLOCK, ret_set, NULL), 0);
}

static void
reads_signals(void)
{
    sigset_t set;
    struct signalfd_siginfo info;
    struct pollfd poll_of = {.events = POLLIN};
    block_usr1(&set);
    int fd = signalfd(-1, &set, SFD_NONBLOCK);
    EXPECT(fd >= 3);
    poll_of.fd = fd;
    EXPECT_EQ(read(fd, &info, sizeof(info)), -1);
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_EQ(poll(&poll_of, 1, 0), 0);
    EXPECT_EQ(pthread_sigqueue(pthread_self(), SIGUSR1, (union sigval){.sival_int = 7}), 0);
    EXPECT_EQ(poll(&poll_of, 1, -1), 1);
    EXPECT_EQ(read(fd, &info, sizeof(info) - 1), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(read(fd, &info, sizeof(info)), (ssize_t)sizeof(info));
    EXPECT_EQ(info.ssi_signo, SIGUSR1);
    EXPECT_EQ(info.ssi_int, 7);
    EXPECT_EQ(poll(&poll_of, 1, 0), 0);
    EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
    (void)sigemptyset(&set);
    EXPECT_EQ(signalfd(fd, &set, 0), fd); /* Another set: … */
    EXPECT_EQ(poll(&poll_of, 1, 0), 0);
    (void)sigaddset(&set, SIGUSR1);
    int other = 0;
    EXPECT_EQ(sigwait(&set, &other), 0); /* … it is still pending. */
    EXPECT_EQ(other, SIGUSR1);
}

TEST(posix_signalfd_reads_what_is_pending)
{
    posix_lab_run(reads_signals, 50, SIM_VERDICT_PASS);
}

static void
kills(void)
{
    EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
}

static void
waits_at_signalfd(void)
{
    sigset_t set;
    struct signalfd_siginfo info;
    block_usr1(&set);
    int fd = signalfd(-1, &set, 0);
    struct sim_thread *other = posix_lab_spawn(kills);
    EXPECT_EQ(read(fd, &info, sizeof(info)), (ssize_t)sizeof(info));
    EXPECT_EQ(info.ssi_signo, SIGUSR1);
    posix_lab_join(other);
}

TEST(posix_a_thread_waits_at_a_signalfd)
{
    posix_lab_run(waits_at_signalfd, 200, SIM_VERDICT_PASS);
}
