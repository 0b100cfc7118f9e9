/*
 * machine_test.c -- users, hosts, interfaces, terminals, children: fixed answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "sim/tests/posix/posix_lab.h"

static void
users(void)
{
    struct passwd user;
    struct passwd *found = NULL;
    char buffer[64];
    EXPECT_STR(getpwuid(getuid())->pw_name, "user");
    EXPECT_EQ(getpwnam("root")->pw_uid, 0);
    EXPECT(getpwnam("rewake-none") == NULL);
    EXPECT_EQ(getpwnam_r("user", &user, buffer, sizeof(buffer), &found), 0);
    EXPECT(found == &user);
    EXPECT_EQ(getpwuid_r(4711, &user, buffer, sizeof(buffer), &found), 0);
    EXPECT(found == NULL);
    EXPECT_STR(getgrgid(getgid())->gr_name, "user");
    EXPECT_EQ(setuid(getuid()), 0);
    EXPECT_EQ(setuid(0), -1);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(setgid(getgid()), 0);
    EXPECT_EQ(setsid(), -1);
    EXPECT_EQ(errno, EPERM);
}

static void
hosts(void)
{
    const struct in_addr address = {htonl(INADDR_LOOPBACK)};
    const struct in_addr other = {htonl(0x08080808)};
    struct ifaddrs *list = NULL;
    EXPECT_STR(gethostbyaddr(&address, sizeof(address), AF_INET)->h_name, "localhost");
    EXPECT(gethostbyaddr(&other, sizeof(other), AF_INET) == NULL);
    EXPECT_EQ(ntohs((uint16_t)getservbyname("http", "tcp")->s_port), 80);
    EXPECT_EQ(getifaddrs(&list), 0);
    EXPECT_STR(list->ifa_name, "lo");
    EXPECT(list->ifa_next == NULL);
    freeifaddrs(list);
    EXPECT_EQ(if_nametoindex("lo"), 1);
    EXPECT_EQ(if_nametoindex("eth0"), 0);
}

static void
others(void)
{
    struct termios terminal;
    int status = 0;
    EXPECT_EQ(wait(&status), -1);
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(waitpid(-1, &status, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(tcgetattr(0, &terminal), -1);
    EXPECT_EQ(errno, ENOTTY);
    EXPECT(ttyname(0) == NULL);
    EXPECT_EQ(pathconf("/", _PC_NAME_MAX), 255);
}

TEST(posix_users_hosts_and_terminals_are_fixed)
{
    posix_lab_run(users, 2, SIM_VERDICT_PASS);
    posix_lab_run(hosts, 2, SIM_VERDICT_PASS);
    posix_lab_run(others, 2, SIM_VERDICT_PASS);
}

static void
leaves(void)
{
    _exit(7);
}

/*
 * Goal: a thread that is of no program, as in a test, ends the process by _exit, as a failed
 * assertion does: it neither ends the run only nor calls itself.
 */
TEST(posix_exit_without_a_program_is_the_process_s)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        posix_lab_run(leaves, 1, SIM_VERDICT_PASS);
        _exit(0);
    }
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
}
