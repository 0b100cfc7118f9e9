/*
 * build.c -- version, compiler, the linker's build ID, and hashes of files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_INLINE_ALL
#include "sim/base/build.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
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

/* Of the notes in [at, end): the first bytes of the linker's build ID, a hash of what it wrote;
 * 0: it is not there. */
static unsigned
build_id_in(const char *at, const char *end)
{
    static const size_t word = sizeof(ElfW(Word));
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const void *)at;
        const char *name = at + sizeof(*note);
        const char *bytes = name + (note->n_namesz + word - 1) / word * word;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof(ELF_NOTE_GNU) &&
                memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 &&
                note->n_descsz >= sizeof(unsigned)) {
            unsigned id = 0;
            for (size_t i = 0; i < sizeof(id); i++) {
                id = id << 8 | (unsigned char)bytes[i];
            }
            return id;
        }
        at = bytes + (note->n_descsz + word - 1) / word * word;
    }
    return 0;
}

/* The program is the first; 1: enough. */
static int
note_build_id(struct dl_phdr_info *info, size_t size, void *ret_id)
{
    unsigned *id = ret_id;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum && *id == 0; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const char *start = (const char *)(info->dlpi_addr + segment->p_vaddr);
        if (segment->p_type == PT_NOTE) {
            *id = build_id_in(start, start + segment->p_memsz);
        }
    }
    return 1;
}

/* The program's own file does not change while it runs. A linker may have left out the ID. */
static unsigned
hash_self(void)
{
    static unsigned hash;
    if (hash == 0) {
        (void)dl_iterate_phdr(note_build_id, &hash);
    }
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
