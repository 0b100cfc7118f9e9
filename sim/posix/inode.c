/*
 * inode.c -- finding, making and changing the files of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/posix/inode.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/posix/file.h"

#define FILE_MAX_BYTES ((size_t)64 << 20)
#define PAGE 4096u
#define LINKS_MOST 40u /* That are followed in one path. */

void (*sim__posix_on_file)(const char *path, const char *bytes, size_t size);

/* ---- Paths. ---------------------------------------------------------------------------------- */

/* Appends one part of a path to the `used` bytes of `ret`; ".." removes the last one. */
static size_t
append(char *ret, size_t used, const char *part, size_t size)
{
    if (size == 0 || (size == 1 && part[0] == '.')) {
        return used;
    }
    if (size == 2 && part[0] == '.' && part[1] == '.') {
        while (used > 0 && ret[--used] != '/') {
        }
        return used;
    }
    if (used + size + 2 > SIM__POSIX_PATH) {
        return SIM__POSIX_PATH;
    }
    ret[used] = '/';
    memcpy(ret + used + 1, part, size);
    return used + 1 + size;
}

static size_t
append_all(char *ret, size_t used, const char *path)
{
    while (*path != '\0' && used < SIM__POSIX_PATH) {
        size_t size = strcspn(path, "/");
        used = append(ret, used, path, size);
        path += size + (path[size] == '/');
    }
    return used;
}

bool
sim__posix_path(const char *from, const char *path, char ret[SIM__POSIX_PATH])
{
    rt_assert(path != NULL);
    size_t used = 0;
    if (path[0] != '/') {
        used = append_all(ret, 0, from != NULL ? from : sim__posix_cwd());
    }
    used = append_all(ret, used, path);
    if (used == 0) {
        ret[used++] = '/';
    }
    if (used >= SIM__POSIX_PATH) {
        return false;
    }
    ret[used] = '\0';
    return true;
}

/* ---- Files that are the same on every machine. ----------------------------------------------- */

static const struct {
    const char *path;
    enum sim__posix_file_kind kind;
    const char *bytes;
} fixed[] = {
        {"/dev/null", SIM__POSIX_NULL, ""},
        {"/dev/zero", SIM__POSIX_ZERO, ""},
        {"/dev/random", SIM__POSIX_RANDOM, ""},
        {"/dev/urandom", SIM__POSIX_RANDOM, ""},
        {"/dev/stdout", SIM__POSIX_OUTPUT, ""},
        {"/dev/stderr", SIM__POSIX_ERRORS, ""},
        {"/proc/cpuinfo", SIM__POSIX_REGULAR, "processor\t: 0\n\nprocessor\t: 1\n\n"},
        {"/proc/meminfo", SIM__POSIX_REGULAR,
                "MemTotal: 4194304 kB\nMemFree: 2097152 kB\nMemAvailable: 2097152 kB\n"},
        {"/proc/loadavg", SIM__POSIX_REGULAR, "0.00 0.00 0.00 1/1 1000\n"},
        {"/proc/stat", SIM__POSIX_REGULAR,
                "cpu  0 0 0 200000 0 0 0 0 0 0\ncpu0 0 0 0 100000 0 0 0 0 0 0\n"
                "cpu1 0 0 0 100000 0 0 0 0 0 0\n"},
        {"/proc/uptime", SIM__POSIX_REGULAR, "1000.00 2000.00\n"},
        {"/dev/shm", SIM__POSIX_DIRECTORY, ""},
        {"/dev/fd", SIM__POSIX_DIRECTORY, ""},
        {"/proc/self/fd", SIM__POSIX_DIRECTORY, ""},
        {"/proc/self/cgroup", SIM__POSIX_REGULAR, "0::/\n"},
        {"/proc/self/stat", SIM__POSIX_REGULAR,
                "1000 (program) R 1 1000 1000 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 4194304 1024 "
                "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"},
        {"/proc/sys/kernel/random/uuid", SIM__POSIX_RANDOM, ""},
        {"/sys/devices/system/cpu/online", SIM__POSIX_REGULAR, "0-1\n"},
        {"/sys/devices/system/cpu/possible", SIM__POSIX_REGULAR, "0-1\n"},
        {"/sys/devices/system/cpu/present", SIM__POSIX_REGULAR, "0-1\n"},
};

/* `folder`, or in it. */
static bool
is_in(const char *path, const char *folder)
{
    size_t size = strlen(folder);
    return strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

bool
sim__posix_of_process(const char *path)
{
    return is_in(path, "/proc") || is_in(path, "/sys") || is_in(path, "/dev");
}

/* Of these folders the files above are there, and in /dev/shm what the run puts there. */
static bool
is_of_the_process(const char *path)
{
    bool is_folder = strchr(path + 1, '/') == NULL;
    return !is_folder && sim__posix_of_process(path) && !is_in(path, "/dev/shm");
}

/* ---- The list of a run. ---------------------------------------------------------------------- */

static struct sim__posix_inode *
inode_of(struct rt_list *node)
{
    return rt_container_of(node, struct sim__posix_inode, link);
}

struct sim__posix_inode *
sim__posix_named(const char *path)
{
    rt_list_each(node, &sim__posix_state()->inodes)
    {
        if (strcmp(inode_of(node)->path, path) == 0) {
            return inode_of(node);
        }
    }
    return NULL;
}

const struct sim__posix_inode *
sim__posix_inode_by(ino_t number)
{
    rt_list_each(node, &sim__posix_state()->inodes)
    {
        if (inode_of(node)->number == number) {
            return inode_of(node);
        }
    }
    return NULL;
}

static const char *
copy_text(struct sim_world *world, const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(sim_alloc(world, size), text, size);
}

static struct sim__posix_inode *
named(struct sim__posix_inode *inode)
{
    return inode->same != NULL ? inode->same : inode;
}

static struct sim__posix_inode *
add(const char *path, enum sim__posix_file_kind kind)
{
    struct sim__posix *state = sim__posix_state();
    struct sim__posix_inode *inode = sim_new(state->world, struct sim__posix_inode);
    inode->kind = kind;
    inode->path = copy_text(state->world, path);
    inode->mode = kind == SIM__POSIX_DIRECTORY ? 0755 : 0644;
    inode->number = ++state->inode_count;
    inode->changed_ns = sim_now(state->world);
    rt_list_init(&inode->link);
    rt_list_push_back(&state->inodes, &inode->link);
    return inode;
}

bool
sim__posix_inode_resize(struct sim__posix_inode *inode, uint64_t size)
{
    if (size > FILE_MAX_BYTES) {
        return false;
    }
    if (size > inode->capacity) {
        if (inode->mapped) {
            sim__posix_refuse("a change of a file's size while it is mapped");
        }
        size_t capacity = size < 4096 ? 4096 : (size_t)size * 2;
        char *bytes = sim_zalloc(sim_world_current, capacity);
        if (inode->size > 0) {
            memcpy(bytes, inode->bytes, inode->size);
        }
        inode->bytes = bytes;
        inode->capacity = capacity;
    }
    if (size < inode->size) {
        memset(inode->bytes + size, 0, inode->size - size);
    }
    inode->size = (size_t)size;
    inode->changed_ns = sim_now(sim_world_current);
    inode->timed = false;
    return true;
}

void
sim__posix_inode_map(struct sim__posix_inode *inode, size_t size)
{
    size_t need = size > inode->size ? size : inode->size;
    if (inode->mapped && need <= inode->capacity) {
        return;
    }
    if (inode->mapped) {
        sim__posix_refuse("a second, larger mapping of a file");
    }
    size_t pages = (need + PAGE - 1) / PAGE * PAGE;
    uintptr_t block = (uintptr_t)sim_zalloc(sim_world_current, pages + PAGE);
    char *bytes = (char *)((block + PAGE - 1) / PAGE * PAGE);
    if (inode->size > 0) {
        memcpy(bytes, inode->bytes, inode->size);
    }
    inode->bytes = bytes;
    inode->capacity = pages;
    inode->mapped = true;
}

static struct sim__posix_inode *
add_fixed(size_t place)
{
    struct sim__posix_inode *inode = add(fixed[place].path, fixed[place].kind);
    size_t size = strlen(fixed[place].bytes);
    bool fits = sim__posix_inode_resize(inode, size);
    rt_assert(fits);
    if (size > 0) {
        memcpy(inode->bytes, fixed[place].bytes, size);
    }
    return inode;
}

/* ---- Files of the machine. ------------------------------------------------------------------- */

/* Fills `inode` from the open `fd`. False: too large, or it shrank meanwhile. */
static bool
read_whole(struct sim__posix_inode *inode, int fd, const struct stat *stat)
{
    uint64_t size = (uint64_t)stat->st_size;
    if (!sim__posix_inode_resize(inode, size)) {
        return false;
    }
    size_t done = 0;
    while (done < size) {
        ssize_t got = sim__real.read(fd, inode->bytes + done, (size_t)size - done);
        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static struct sim__posix_inode *
add_opened(const char *path, int fd, int *ret_error)
{
    struct stat stat;
    if (sim__real.fstat(fd, &stat) != 0) {
        *ret_error = errno;
        return NULL;
    }
    bool folder = S_ISDIR(stat.st_mode);
    if (!folder && !S_ISREG(stat.st_mode)) {
        *ret_error = ENXIO;
        return NULL;
    }
    struct sim__posix_inode *inode = add(path, folder ? SIM__POSIX_DIRECTORY : SIM__POSIX_REGULAR);
    inode->mode = stat.st_mode & 07777;
    if (!folder && !read_whole(inode, fd, &stat)) {
        rt_list_unlink(&inode->link);
        *ret_error = EFBIG;
        return NULL;
    }
    if (!folder && sim__posix_on_file != NULL) {
        sim__posix_on_file(path, inode->bytes, inode->size);
    }
    inode->changed_ns = 0;
    return inode;
}

static struct sim__posix_inode *
add_real(const char *path, int *ret_error)
{
    struct sim__posix_inode *inode = NULL;
    struct sim_thread *paused = sim_thread_pause();
    int fd = sim__real.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0) {
        *ret_error = errno;
    } else {
        inode = add_opened(path, fd, ret_error);
        (void)sim__real.syscall(SYS_close, fd); /* Not noted: it is the simulator's own. */
    }
    sim_thread_resume(paused);
    return inode;
}

/* Replaces the first link of the run in `path`, or that is it, by where it leads. False: it has
 * none. */
static bool
follow_one(char path[SIM__POSIX_PATH])
{
    char folder[SIM__POSIX_PATH];
    char joined[2 * SIM__POSIX_PATH];
    rt_list_each(node, &sim__posix_state()->inodes)
    {
        const struct sim__posix_inode *link = inode_of(node);
        if (link->kind == SIM__POSIX_LINK && !link->gone && link->path[0] != '\0' &&
                is_in(path, link->path)) {
            size_t size = (size_t)(strrchr(link->path, '/') - link->path);
            memcpy(folder, link->path, size);
            memcpy(folder + size, "/", 2);
            (void)snprintf(joined, sizeof(joined), "%.*s%s", (int)link->size, link->bytes,
                    path + strlen(link->path));
            return sim__posix_path(folder, joined, path);
        }
    }
    return false;
}

/* `path`, with links followed; NULL: they lead in a circle. */
static const char *
follow(const char *path, char whole[SIM__POSIX_PATH])
{
    uint32_t links = 0;
    memcpy(whole, path, strlen(path) + 1);
    while (links < LINKS_MOST && follow_one(whole)) {
        links++;
    }
    return links < LINKS_MOST ? whole : NULL;
}

struct sim__posix_inode *
sim__posix_inode(const char *given, int *ret_error)
{
    char whole[SIM__POSIX_PATH];
    rt_assert(given[0] == '/');
    const char *path = follow(given, whole);
    if (path == NULL) {
        *ret_error = ELOOP;
        return NULL;
    }
    struct sim__posix_inode *inode = sim__posix_named(path);
    *ret_error = ENOENT;
    if (inode != NULL) {
        return inode->gone ? NULL : named(inode);
    }
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        if (strcmp(fixed[i].path, path) == 0) {
            return add_fixed(i);
        }
    }
    return is_of_the_process(path) ? NULL : add_real(path, ret_error);
}

/* ---- Changing. ------------------------------------------------------------------------------- */

/* Whether the folder that `path` is in exists. */
static bool
has_folder(const char *path)
{
    char folder[SIM__POSIX_PATH];
    int error = 0;
    size_t size = (size_t)(strrchr(path, '/') - path);
    memcpy(folder, path, size);
    folder[size] = '\0';
    const struct sim__posix_inode *inode = sim__posix_inode(size > 0 ? folder : "/", &error);
    return inode != NULL && inode->kind == SIM__POSIX_DIRECTORY;
}

/* Makes space for a new file at `path`. False: there cannot be one. */
static bool
make_free(const char *path)
{
    if (is_of_the_process(path) || !has_folder(path)) {
        return false;
    }
    struct sim__posix_inode *before = sim__posix_named(path);
    if (before != NULL) {
        rt_assert(before->gone);
        before->path = "";
    }
    return true;
}

struct sim__posix_inode *
sim__posix_inode_new(const char *path, enum sim__posix_file_kind kind, mode_t mode)
{
    if (!make_free(path)) {
        return NULL;
    }
    struct sim__posix_inode *inode = add(path, kind);
    inode->mode = mode & ~sim__posix_state()->umask & 07777;
    inode->made = true;
    return inode;
}

struct sim__posix_inode *
sim__posix_inode_nameless(void)
{
    return add("", SIM__POSIX_REGULAR);
}

bool
sim__posix_name(struct sim__posix_inode *inode, const char *path)
{
    if (!make_free(path)) {
        return false;
    }
    add(path, inode->kind)->same = named(inode);
    return true;
}

/* Another name of `inode`; NULL: it has none. */
static struct sim__posix_inode *
other_name(const struct sim__posix_inode *inode)
{
    rt_list_each(node, &sim__posix_state()->inodes)
    {
        struct sim__posix_inode *other = inode_of(node);
        if (other->same == inode && other->path[0] != '\0') {
            return other;
        }
    }
    return NULL;
}

/* The name of `inode` is free: it takes over another one. */
static void
take_name(struct sim__posix_inode *inode)
{
    struct sim__posix_inode *other = other_name(inode);
    inode->path = other != NULL ? other->path : "";
    if (other != NULL) {
        other->path = "";
    }
}

void
sim__posix_unname(const char *path)
{
    struct sim__posix_inode *inode = sim__posix_named(path);
    enum sim__posix_file_kind kind = inode != NULL ? inode->kind : SIM__POSIX_REGULAR;
    if (inode != NULL) {
        take_name(inode);
    }
    add(path, kind)->gone = true;
}

bool
sim__posix_rename_to(const char *from, const char *to)
{
    struct sim__posix_inode *inode = sim__posix_named(from);
    rt_assert(inode != NULL && !inode->gone);
    const struct sim__posix_inode *there = sim__posix_named(to);
    if (there == NULL || !there->gone) {
        sim__posix_unname(to);
    }
    if (!make_free(to)) {
        return false;
    }
    const char *before = inode->path;
    inode->path = copy_text(sim_world_current, to);
    add(before, inode->kind)->gone = true;
    inode->made = true;
    return true;
}

static nlink_t
names_of(const struct sim__posix_inode *inode)
{
    nlink_t names = inode->path[0] != '\0';
    rt_list_each(node, &sim__posix_state()->inodes)
    {
        names += inode_of(node)->same == inode && inode_of(node)->path[0] != '\0';
    }
    return names;
}

void
sim__posix_inode_stat(const struct sim__posix_inode *inode, struct stat *ret)
{
    static const mode_t types[] = {
            S_IFREG, S_IFDIR, S_IFCHR, S_IFCHR, S_IFCHR, S_IFCHR, S_IFCHR, S_IFLNK, S_IFSOCK};
    uint64_t ns = SIM__DATE_NS + inode->changed_ns;
    struct timespec time = {(time_t)(ns / SIM__SECOND_NS), (long)(ns % SIM__SECOND_NS)};
    *ret = (struct stat){.st_dev = 1,
            .st_ino = inode->number,
            .st_nlink = names_of(inode),
            .st_mode = types[inode->kind] | inode->mode,
            .st_uid = 1000,
            .st_gid = 1000,
            .st_size = inode->kind != SIM__POSIX_SOCKET ? (off_t)inode->size : 0,
            .st_blksize = 4096,
            .st_blocks = (blkcnt_t)((inode->size + 511) / 512),
            .st_atim = inode->timed ? inode->times[0] : time,
            .st_mtim = inode->timed ? inode->times[1] : time,
            .st_ctim = time};
}
