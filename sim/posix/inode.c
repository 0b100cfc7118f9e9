/*
 * inode.c -- finding, making and changing the files of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/posix/inode.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/posix/file.h"

#define FILE_MAX_BYTES ((size_t)64 << 20)

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
                "MemTotal: 4194304 kB\nMemFree: 4194304 kB\nMemAvailable: 4194304 kB\n"},
        {"/proc/loadavg", SIM__POSIX_REGULAR, "0.00 0.00 0.00 1/1 1000\n"},
        {"/proc/uptime", SIM__POSIX_REGULAR, "1000.00 2000.00\n"},
        {"/proc/self/cgroup", SIM__POSIX_REGULAR, "0::/\n"},
        {"/proc/self/stat", SIM__POSIX_REGULAR, "1000 (program) R 1 1000 1000 0 -1 0\n"},
        {"/proc/sys/kernel/random/uuid", SIM__POSIX_RANDOM, ""},
        {"/sys/devices/system/cpu/online", SIM__POSIX_REGULAR, "0-1\n"},
        {"/sys/devices/system/cpu/possible", SIM__POSIX_REGULAR, "0-1\n"},
        {"/sys/devices/system/cpu/present", SIM__POSIX_REGULAR, "0-1\n"},
};

/* Of these folders only the files above are there: what else is in them differs from run to run. */
static bool
is_of_the_process(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0 ||
           strncmp(path, "/dev/", 5) == 0;
}

/* ---- The list of a run. ---------------------------------------------------------------------- */

static struct sim__posix_inode *
inode_of(struct rt_list *node)
{
    return rt_container_of(node, struct sim__posix_inode, link);
}

static struct sim__posix_inode *
find(const char *path)
{
    rt_list_each(node, &sim__posix_state()->inodes)
    {
        if (strcmp(inode_of(node)->path, path) == 0) {
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
    return true;
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

struct sim__posix_inode *
sim__posix_inode(const char *path, int *ret_error)
{
    rt_assert(path[0] == '/');
    struct sim__posix_inode *inode = find(path);
    *ret_error = ENOENT;
    if (inode != NULL) {
        return inode->gone ? NULL : inode;
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

struct sim__posix_inode *
sim__posix_inode_new(const char *path, enum sim__posix_file_kind kind, mode_t mode)
{
    if (is_of_the_process(path) || !has_folder(path)) {
        return NULL;
    }
    struct sim__posix_inode *before = find(path);
    if (before != NULL) {
        rt_assert(before->gone);
        before->path = "";
    }
    struct sim__posix_inode *inode = add(path, kind);
    inode->mode = mode & ~sim__posix_state()->umask & 07777;
    return inode;
}

void
sim__posix_inode_unlink(struct sim__posix_inode *inode)
{
    const char *path = inode->path;
    rt_assert(path[0] == '/');
    inode->path = "";
    add(path, inode->kind)->gone = true;
}

bool
sim__posix_inode_move(struct sim__posix_inode *inode, const char *path)
{
    if (is_of_the_process(path) || !has_folder(path)) {
        return false;
    }
    struct sim__posix_inode *before = find(path);
    if (before != NULL) {
        rt_assert(before->gone);
        before->path = "";
    }
    sim__posix_inode_unlink(inode);
    inode->path = copy_text(sim_world_current, path);
    return true;
}

bool
sim__posix_touched(const char *path)
{
    size_t size = strlen(path);
    rt_list_each(node, &sim__posix_state()->inodes)
    {
        const struct sim__posix_inode *inode = inode_of(node);
        bool inside = strncmp(inode->path, path, size) == 0 && inode->path[size] == '/';
        if (inside && (inode->gone || inode->changed_ns != 0)) {
            return true;
        }
    }
    return false;
}

void
sim__posix_inode_stat(const struct sim__posix_inode *inode, struct stat *ret)
{
    static const mode_t types[] = {S_IFREG, S_IFDIR, S_IFCHR, S_IFCHR, S_IFCHR, S_IFCHR, S_IFCHR};
    uint64_t ns = SIM__DATE_NS + inode->changed_ns;
    struct timespec time = {(time_t)(ns / SIM__SECOND_NS), (long)(ns % SIM__SECOND_NS)};
    *ret = (struct stat){.st_dev = 1,
            .st_ino = inode->number,
            .st_nlink = inode->path[0] != '\0',
            .st_mode = types[inode->kind] | inode->mode,
            .st_uid = 1000,
            .st_gid = 1000,
            .st_size = (off_t)inode->size,
            .st_blksize = 4096,
            .st_blocks = (blkcnt_t)((inode->size + 511) / 512),
            .st_atim = time,
            .st_mtim = time,
            .st_ctim = time};
}
