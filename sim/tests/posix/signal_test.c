/*
 * signal_test.c -- signals: handlers, masks, waiting for one, timers that send one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "sim/tests/posix/posix_lab.h"

static int handled;

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
    EXPECT_EQ(alarm(2), 0);
    EXPECT_EQ(nanosleep(&long_time, &rest), -1);
    EXPECT_EQ(errno, EINTR);
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
