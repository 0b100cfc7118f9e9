/*
 * build.c -- version, compiler, and hashes of files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_INLINE_ALL
#include "sim/cli/print/build.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#if defined(__clang__)
#define COMPILER "clang "
#else
#define COMPILER "gcc "
#endif

/* A number for what is in the file; 0 when it cannot be read. */
static unsigned
hash_file(const char *path)
{
    struct stat status;
    unsigned hash = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            hash = (unsigned)XXH3_64bits(bytes, size);
            (void)munmap(bytes, size);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return hash;
}

/* The program's own file does not change while it runs. */
static unsigned
hash_self(void)
{
    static unsigned hash;
    hash = hash != 0 ? hash : hash_file("/proc/self/exe");
    return hash;
}

void
sim_build_text(const char *library, char ret_text[SIM_BUILD_MAX])
{
    char of_library[24] = "";
    if (library != NULL) {
        (void)snprintf(of_library, sizeof(of_library), ", library %08x", hash_file(library));
    }
    (void)snprintf(ret_text, SIM_BUILD_MAX, "rewake %s, " COMPILER "%.60s, program %08x%s",
            SIM_VERSION, __VERSION__, hash_self(), of_library);
}
