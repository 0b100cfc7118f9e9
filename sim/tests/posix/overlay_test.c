/*
 * overlay_test.c -- names, links, directories, attributes and shared memory of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/tests/posix/posix_lab.h"

#define FOLDER "/tmp/rewake-overlay-test"

static void
make(const char *path, const char *text)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    EXPECT(fd >= 3);
    EXPECT_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    EXPECT_EQ(close(fd), 0);
}

static void
expect_text(const char *path, const char *text)
{
    char buffer[32] = "";
    int fd = open(path, O_RDONLY);
    EXPECT(fd >= 3);
    EXPECT_EQ(read(fd, buffer, sizeof(buffer)), (ssize_t)strlen(text));
    EXPECT_EQ(memcmp(buffer, text, strlen(text)), 0);
    EXPECT_EQ(close(fd), 0);
}

static void
links(void)
{
    char target[16];
    char path[PATH_MAX];
    struct stat status;
    EXPECT_EQ(mkdir(FOLDER, 0755), 0);
    make(FOLDER "/a", "text");
    EXPECT_EQ(link(FOLDER "/a", FOLDER "/b"), 0);
    EXPECT_EQ(link(FOLDER "/a", FOLDER "/b"), -1);
    EXPECT_EQ(errno, EEXIST);
    EXPECT_EQ(stat(FOLDER "/b", &status), 0);
    EXPECT_EQ(status.st_nlink, 2);
    make(FOLDER "/b", "other");
    expect_text(FOLDER "/a", "other");
    EXPECT_EQ(unlink(FOLDER "/a"), 0);
    expect_text(FOLDER "/b", "other");
    EXPECT_EQ(access(FOLDER "/a", F_OK), -1);
    EXPECT_EQ(symlink("b", FOLDER "/c"), 0);
    expect_text(FOLDER "/c", "other");
    EXPECT_EQ(readlink(FOLDER "/c", target, sizeof(target)), 1);
    EXPECT_EQ(target[0], 'b');
    EXPECT_EQ(readlink(FOLDER "/b", target, sizeof(target)), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(lstat(FOLDER "/c", &status), 0);
    EXPECT(S_ISLNK(status.st_mode));
    EXPECT(realpath(FOLDER "/c", path) != NULL);
    EXPECT_STR(path, FOLDER "/b");
    EXPECT_EQ(symlink(FOLDER, "/tmp/rewake-overlay-link"), 0);
    expect_text("/tmp/rewake-overlay-link/b", "other");
    EXPECT_EQ(unlink(FOLDER "/c"), 0);
    expect_text(FOLDER "/b", "other");
    EXPECT_EQ(symlink("x", FOLDER "/y"), 0);
    EXPECT_EQ(symlink("y", FOLDER "/x"), 0);
    EXPECT_EQ(open(FOLDER "/x", O_RDONLY), -1);
    EXPECT_EQ(errno, ELOOP);
    EXPECT_EQ(open(FOLDER "/x", O_RDONLY | O_NOFOLLOW), -1);
    EXPECT_EQ(errno, ELOOP);
    EXPECT_EQ(rename(FOLDER "/b", FOLDER "/d"), 0);
    expect_text(FOLDER "/d", "other");
}

TEST(posix_links_lead_to_one_file)
{
    posix_lab_run(links, 3, SIM_VERDICT_PASS);
}

/* ---- Directories. ---------------------------------------------------------------------------- */

static void
directories(void)
{
    char temporary[] = "/tmp/dXXXXXX";
    const char *wanted[] = {".", "..", "a", "b"};
    struct dirent **list = NULL;
    glob_t found = {0};
    EXPECT(mkdtemp(temporary) != NULL);
    EXPECT_EQ(mkdir(FOLDER, 0755), 0);
    make(FOLDER "/b", "");
    EXPECT_EQ(mkdir(FOLDER "/a", 0755), 0);
    make(FOLDER "/a/deep", "");
    DIR *directory = opendir(FOLDER);
    EXPECT(directory != NULL);
    for (int i = 0; i < 4; i++) {
        const struct dirent *entry = readdir(directory);
        EXPECT(entry != NULL);
        EXPECT_STR(entry->d_name, wanted[i]);
        EXPECT_EQ(entry->d_type, i < 3 ? DT_DIR : DT_REG);
    }
    EXPECT(readdir(directory) == NULL);
    EXPECT_EQ(unlink(FOLDER "/b"), 0);
    rewinddir(directory);
    EXPECT_EQ(telldir(directory), 0);
    EXPECT(dirfd(directory) >= 3);
    EXPECT_EQ(closedir(directory), 0);
    EXPECT_EQ(scandir(FOLDER, &list, NULL, alphasort), 3);
    EXPECT_STR(list[2]->d_name, "a");
    EXPECT_EQ(glob(FOLDER "/*", 0, NULL, &found), 0);
    EXPECT_EQ(found.gl_pathc, 1);
    EXPECT_STR(found.gl_pathv[0], FOLDER "/a");
    globfree(&found);
    EXPECT_EQ(rmdir(FOLDER), -1);
    EXPECT_EQ(errno, ENOTEMPTY);
    EXPECT(opendir(FOLDER "/none") == NULL);
    EXPECT_EQ(errno, ENOENT);
    for (int i = 0; i < 3; i++) {
        free(list[i]);
    }
    free(list);
}

/* Programs close all but some of them, or compare how many there are. */
static void
numbers(void)
{
    static const char *const folders[] = {"/proc/self/fd", "/dev/fd"};
    EXPECT_EQ(dup2(1, 7), 7);
    for (int i = 0; i < 2; i++) {
        struct dirent **list = NULL;
        EXPECT_EQ(scandir(folders[i], &list, NULL, alphasort), 7); /* With 3, the list itself. */
        EXPECT_STR(list[2]->d_name, "0");
        EXPECT_STR(list[5]->d_name, "3");
        EXPECT_STR(list[6]->d_name, "7");
        for (int k = 0; k < 7; k++) {
            free(list[k]);
        }
        free(list);
    }
    EXPECT_EQ(close(7), 0);
}

TEST(posix_the_numbers_in_use_are_a_directory)
{
    posix_lab_run(numbers, 2, SIM_VERDICT_PASS);
}

TEST(posix_a_directory_has_what_the_run_put_there)
{
    posix_lab_run(directories, 3, SIM_VERDICT_PASS);
    EXPECT_EQ(access(FOLDER, F_OK), -1);
}

static void
reads_the_machine_s(void)
{
    char before[256] = "";
    uint32_t count = 0;
    bool removed = false;
    const struct dirent *entry = NULL;
    EXPECT_EQ(unlink(FOLDER "/2"), 0);
    make(FOLDER "/4", "");
    DIR *directory = opendir(FOLDER);
    while ((entry = readdir(directory)) != NULL) {
        EXPECT(strcmp(before, entry->d_name) < 0);
        (void)snprintf(before, sizeof(before), "%s", entry->d_name);
        removed = removed || strcmp(entry->d_name, "2") == 0;
        count++;
    }
    EXPECT_EQ(closedir(directory), 0);
    EXPECT_EQ(count, 5); /* . .. 1 3 4 */
    EXPECT(!removed);
}

TEST(posix_a_directory_of_the_machine_is_sorted_and_changed)
{
    EXPECT_EQ(mkdir(FOLDER, 0755), 0);
    make(FOLDER "/3", "");
    make(FOLDER "/1", "");
    make(FOLDER "/2", "");
    posix_lab_run(reads_the_machine_s, 3, SIM_VERDICT_PASS);
    EXPECT_EQ(access(FOLDER "/2", F_OK), 0);
    EXPECT_EQ(remove(FOLDER "/1") + remove(FOLDER "/2") + remove(FOLDER "/3"), 0);
    EXPECT_EQ(rmdir(FOLDER), 0);
}

/* ---- Attributes. ----------------------------------------------------------------------------- */

static void
attributes(void)
{
    const struct timespec times[2] = {{100, 5}, {200, 7}};
    struct stat status;
    struct statvfs system;
    make("/tmp/rewake-attribute", "x");
    int fd = open("/tmp/rewake-attribute", O_RDWR);
    EXPECT_EQ(chmod("/tmp/rewake-attribute", 0400), 0);
    EXPECT_EQ(fstat(fd, &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0400);
    EXPECT_EQ(fchmod(fd, 0640), 0);
    EXPECT_EQ(futimens(fd, times), 0);
    EXPECT_EQ(fstat(fd, &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0640);
    EXPECT_EQ(status.st_mtim.tv_sec, 200);
    EXPECT_EQ(status.st_atim.tv_nsec, 5);
    EXPECT_EQ(fchown(fd, getuid(), getgid()), 0);
    EXPECT_EQ(fchown(fd, 0, 0), -1);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(posix_fallocate(fd, 0, 5000), 0);
    EXPECT_EQ(fstat(fd, &status), 0);
    EXPECT_EQ(status.st_size, 5000);
    EXPECT(status.st_mtim.tv_sec > 1700000000); /* It has changed. */
    EXPECT_EQ(posix_fallocate(99, 0, 1), EBADF);
    EXPECT_EQ(fallocate(fd, 1 << 20, 0, 1), -1);
    EXPECT_EQ(errno, EOPNOTSUPP);
    EXPECT_EQ(statvfs("/tmp", &system), 0);
    EXPECT_EQ(system.f_bsize, 4096);
    EXPECT_EQ(statvfs("/tmp/rewake-none", &system), -1);
    EXPECT_EQ(errno, ENOENT);
}

TEST(posix_attributes_of_files)
{
    posix_lab_run(attributes, 2, SIM_VERDICT_PASS);
}

/* ---- Shared by name. ------------------------------------------------------------------------- */

static void
shared_memory(void)
{
    int fd = shm_open("/rewake", O_CREAT | O_EXCL | O_RDWR, 0600);
    EXPECT(fd >= 3);
    EXPECT_EQ(ftruncate(fd, 8192), 0);
    char *one = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *two = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096);
    EXPECT(one != MAP_FAILED && two != MAP_FAILED);
    one[4096] = 'x';
    EXPECT_EQ(two[0], 'x');
    EXPECT_EQ(pwrite(fd, "y", 1, 4096), 1);
    EXPECT_EQ(two[0], 'y');
    EXPECT_EQ(madvise(one, 8192, MADV_DONTNEED), 0);
    EXPECT_EQ(two[0], 'y');
    EXPECT_EQ(shm_open("/rewake", O_RDWR, 0), fd + 1);
    EXPECT_EQ(shm_unlink("/rewake"), 0);
    EXPECT_EQ(shm_open("/rewake", O_RDWR, 0), -1);
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(shm_open("/a/b", O_RDWR, 0), -1);
    EXPECT_EQ(errno, EINVAL);
    fd = memfd_create("m", MFD_CLOEXEC);
    EXPECT_EQ(write(fd, "abc", 3), 3);
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

TEST(posix_a_shared_mapping_is_the_file)
{
    posix_lab_run(shared_memory, 3, SIM_VERDICT_PASS);
}

static void
outgrows_its_mapping(void)
{
    int fd = memfd_create("m", 0);
    EXPECT_EQ(ftruncate(fd, 10), 0);
    EXPECT(mmap(NULL, 10, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
    (void)!ftruncate(fd, 100000);
}

TEST(posix_a_file_that_outgrows_its_mapping_is_refused)
{
    posix_lab_run(outgrows_its_mapping, 1, SIM_VERDICT_REFUSED);
    EXPECT(strstr(posix_lab_message(), "while it is mapped") != NULL);
}

static void
posts(void)
{
    sem_t *semaphore = sem_open("/rewake", 0);
    EXPECT(semaphore != SEM_FAILED);
    EXPECT_EQ(sem_post(semaphore), 0);
}

static void
named_semaphore(void)
{
    EXPECT(sem_open("/rewake", 0) == SEM_FAILED);
    EXPECT_EQ(errno, ENOENT);
    sem_t *semaphore = sem_open("/rewake", O_CREAT | O_EXCL, 0600, 0);
    EXPECT(semaphore != SEM_FAILED);
    EXPECT(sem_open("/rewake", O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED);
    EXPECT_EQ(errno, EEXIST);
    struct sim_thread *other = posix_lab_spawn(posts);
    EXPECT_EQ(sem_wait(semaphore), 0);
    posix_lab_join(other);
    EXPECT_EQ(sem_close(semaphore), 0);
    EXPECT_EQ(sem_unlink("/rewake"), 0);
    EXPECT_EQ(sem_unlink("/rewake"), -1);
    EXPECT_EQ(errno, ENOENT);
}

TEST(posix_named_semaphores)
{
    posix_lab_run(named_semaphore, 30, SIM_VERDICT_PASS);
}
