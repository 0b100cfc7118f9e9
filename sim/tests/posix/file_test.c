/*
 * file_test.c -- files: those of the machine, and what a run writes over them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim/tests/posix/posix_lab.h"

#define PLACE "/tmp/rewake-posix-test"

static void
writes_and_reads_back(void)
{
    char buffer[16];
    struct stat stat_of;
    EXPECT_EQ(stat(PLACE, &stat_of), -1); /* Nothing is left of the run before. */
    EXPECT_EQ(errno, ENOENT);
    int fd = open(PLACE, O_CREAT | O_RDWR | O_EXCL, 0600);
    EXPECT(fd >= 3);
    EXPECT_EQ(write(fd, "hello, world", 12), 12);
    EXPECT_EQ(lseek(fd, 7, SEEK_SET), 7);
    EXPECT_EQ(read(fd, buffer, sizeof(buffer)), 5);
    EXPECT_EQ(pwrite(fd, "J", 1, 0), 1);
    EXPECT_EQ(pread(fd, buffer, 5, 0), 5);
    EXPECT_EQ(memcmp(buffer, "Jello", 5), 0);
    EXPECT_EQ(ftruncate(fd, 5), 0);
    EXPECT_EQ(fstat(fd, &stat_of), 0);
    EXPECT_EQ(stat_of.st_size, 5);
    EXPECT_EQ(rename(PLACE, PLACE "-2"), 0);
    EXPECT_EQ(access(PLACE, F_OK), -1);
    EXPECT_EQ(unlink(PLACE "-2"), 0);
    EXPECT_EQ(access(PLACE "-2", F_OK), -1);
    EXPECT_EQ(close(fd), 0);
}

TEST(posix_what_a_run_writes_ends_with_it)
{
    posix_lab_run(writes_and_reads_back, 3, SIM_VERDICT_PASS);
    EXPECT_EQ(access(PLACE, F_OK), -1);
}

static void
changes_a_file_of_the_machine(void)
{
    char buffer[8] = "";
    FILE *file = fopen(PLACE, "r+");
    EXPECT(file != NULL);
    EXPECT(fgets(buffer, sizeof(buffer), file) != NULL);
    EXPECT_STR(buffer, "old\n");
    EXPECT_EQ(fseek(file, 0, SEEK_SET), 0);
    EXPECT(fputs("new\n", file) >= 0);
    EXPECT_EQ(fclose(file), 0);
    int fd = open(PLACE, O_RDONLY);
    EXPECT_EQ(read(fd, buffer, 4), 4);
    EXPECT_EQ(memcmp(buffer, "new\n", 4), 0);
}

TEST(posix_a_file_of_the_machine_is_never_written_to)
{
    char buffer[8] = "";
    FILE *file = fopen(PLACE, "w");
    EXPECT(file != NULL);
    EXPECT(fputs("old\n", file) >= 0);
    EXPECT_EQ(fclose(file), 0);
    posix_lab_run(changes_a_file_of_the_machine, 3, SIM_VERDICT_PASS);
    file = fopen(PLACE, "r");
    EXPECT(fgets(buffer, sizeof(buffer), file) != NULL);
    EXPECT_EQ(fclose(file), 0);
    EXPECT_EQ(remove(PLACE), 0);
    EXPECT_STR(buffer, "old\n");
}

static void
fixed_files(void)
{
    char buffer[16] = "";
    int fd = open("/sys/devices/system/cpu/online", O_RDONLY);
    EXPECT_EQ(read(fd, buffer, sizeof(buffer)), 4);
    EXPECT_EQ(memcmp(buffer, "0-1\n", 4), 0);
    EXPECT_EQ(open("/proc/self/maps", O_RDONLY), -1);
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(sysconf(_SC_NPROCESSORS_ONLN), 2);
    EXPECT_EQ(getpid(), 1000);
    EXPECT_EQ(syscall(SYS_gettid), 1000);
    EXPECT_EQ(syscall(SYS_io_uring_setup, 8, NULL), -1);
    EXPECT_EQ(errno, ENOSYS);
}

TEST(posix_the_machine_is_the_same_everywhere)
{
    posix_lab_run(fixed_files, 2, SIM_VERDICT_PASS);
}

/* GLib begins each thread of a pool by what the one that makes it is scheduled by. */
static void
scheduling(void)
{
    uint32_t attr[14];
    memset(attr, 0xff, sizeof(attr));
    EXPECT_EQ(syscall(SYS_sched_getattr, 0, attr, sizeof(attr), 0), 0);
    EXPECT_EQ(attr[0], 48);
    EXPECT_EQ(attr[1], 0); /* SCHED_OTHER */
    EXPECT_EQ(attr[13], 0);
    EXPECT_EQ(syscall(SYS_sched_setattr, 0, attr, 0), 0);
    attr[1] = 1; /* SCHED_FIFO */
    EXPECT_EQ(syscall(SYS_sched_setattr, 0, attr, 0), -1);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(syscall(SYS_sched_getattr, 0, attr, 40, 0), -1);
    EXPECT_EQ(errno, EINVAL);
}

TEST(posix_a_thread_is_scheduled_as_the_one_that_made_it)
{
    posix_lab_run(scheduling, 2, SIM_VERDICT_PASS);
}

/* GLib has no other way where it finds no statx. */
static void
extended_stat(void)
{
    char name[] = "/tmp/xXXXXXX";
    int fd = mkstemp(name);
    struct stat stat;
    struct statx more;
    EXPECT_EQ(write(fd, "12345", 5), 5);
    EXPECT_EQ(fstat(fd, &stat), 0);
    EXPECT_EQ(statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, STATX_SIZE, &more), 0);
    EXPECT_EQ(more.stx_mask & STATX_BASIC_STATS, STATX_BASIC_STATS);
    EXPECT_EQ(more.stx_size, 5);
    EXPECT_EQ(more.stx_mode, stat.st_mode);
    EXPECT_EQ(more.stx_ino, stat.st_ino);
    EXPECT_EQ(more.stx_mtime.tv_sec, stat.st_mtim.tv_sec);
    EXPECT_EQ(syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_SIZE, &more), 0);
    EXPECT_EQ(more.stx_size, 5);
    EXPECT_EQ(statx(AT_FDCWD, "/tmp/none", 0, STATX_SIZE, &more), -1);
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(statx(AT_FDCWD, name, 0, STATX__RESERVED, &more), -1);
    EXPECT_EQ(errno, EINVAL);
}

TEST(posix_statx_says_what_stat_says)
{
    posix_lab_run(extended_stat, 2, SIM_VERDICT_PASS);
}

static void
temporary_files(void)
{
    char name[] = "/tmp/xXXXXXX";
    int fd = mkstemp(name);
    EXPECT(fd >= 3);
    EXPECT(strcmp(name, "/tmp/xXXXXXX") != 0);
    char *block = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(block != MAP_FAILED);
    EXPECT_EQ(block[8191], 0);
    EXPECT_EQ(munmap(block, 8192), 0);
}

TEST(posix_temporary_files_and_mappings_are_the_run_s)
{
    posix_lab_run(temporary_files, 3, SIM_VERDICT_PASS);
}

/* ---- Random numbers. ------------------------------------------------------------------------- */

static uint64_t drawn[64];
static uint32_t drawn_count;

static void
draws(void)
{
    uint64_t value = 0, other = 0;
    EXPECT_EQ(getrandom(&value, sizeof(value), 0), 8);
    int fd = open("/dev/urandom", O_RDONLY);
    EXPECT_EQ(read(fd, &other, sizeof(other)), 8);
    EXPECT(value != other && value != 0);
    drawn[drawn_count++ % 64] = value;
}

TEST(posix_random_numbers_are_decisions)
{
    posix_lab_run(draws, 20, SIM_VERDICT_PASS);
    uint32_t different = 0;
    for (uint32_t i = 1; i < 20; i++) {
        different += drawn[i] != drawn[0];
    }
    EXPECT(different > 0); /* Seeds differ … */
    uint64_t first = drawn[0];
    drawn_count = 0;
    posix_lab_run(draws, 1, SIM_VERDICT_PASS);
    EXPECT(drawn[0] == first); /* … and one seed has one number. */
}

static void
asks_for_a_fifo(void)
{
    (void)mkfifo("/tmp/a", 0600);
}

TEST(posix_what_is_not_simulated_is_refused_by_name)
{
    posix_lab_run(asks_for_a_fifo, 1, SIM_VERDICT_REFUSED);
    EXPECT(strstr(posix_lab_message(), "mkfifo") != NULL);
}
