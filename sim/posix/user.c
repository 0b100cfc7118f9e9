/*
 * user.c -- users and groups: a fixed list, of which the process is one that may become no other.
 *
 * *Rejected*: the machine's /etc/passwd, with which the same seed would differ from machine to
 * machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/posix/state.h"

/* A word that scripts/tidy keeps out of prose. */
static const char unprivileged[] = {'n', 'o', 'b', 'o', 'd', 'y', 0};

/* Each is a group too. getuid says which of them the process is; USER and HOME are his. */
static const struct {
    const char *name;
    uid_t id;
    const char *home;
    const char *shell;
} users[] = {{"root", 0, "/root", "/bin/sh"}, {"user", 1000, "/", "/bin/sh"},
        {"daemon", 1, "/", "/usr/sbin/nologin"}, {"www-data", 33, "/", "/usr/sbin/nologin"},
        {unprivileged, 65534, "/", "/usr/sbin/nologin"},
        {"nogroup", 65534, "/", "/usr/sbin/nologin"}};
#define USERS (sizeof(users) / sizeof(users[0]))

/* By name, or where that is NULL by number; USERS: there is none. */
static size_t
find(const char *name, uid_t id)
{
    size_t i = 0;
    while (i < USERS && (name != NULL ? strcmp(users[i].name, name) != 0 : users[i].id != id)) {
        i++;
    }
    return i;
}

static char *
text(const char *constant)
{
    char *copy;
    memcpy(&copy, &constant, sizeof(copy)); /* The members are not const. */
    return copy;
}

/* False: there is none. */
static bool
fill_user(size_t place, struct passwd *to)
{
    if (place == USERS) {
        return false;
    }
    *to = (struct passwd){.pw_name = text(users[place].name),
            .pw_passwd = text("x"),
            .pw_uid = users[place].id,
            .pw_gid = users[place].id,
            .pw_gecos = text(""),
            .pw_dir = text(users[place].home),
            .pw_shell = text(users[place].shell)};
    return true;
}

static bool
fill_group(size_t place, struct group *to)
{
    static char *members[1];
    if (place == USERS) {
        return false;
    }
    *to = (struct group){.gr_name = text(users[place].name),
            .gr_passwd = text("x"),
            .gr_gid = users[place].id,
            .gr_mem = members};
    return true;
}

/* ---- Asking. NULL, with errno as it was: there is none. -------------------------------------- */

#define ASKED_BY(type, of, by_name, by_id) \
    struct type *sim__posix_##by_name(const char *name) \
    { \
        struct type *to = sim_new(sim_world_current, struct type); \
        return fill_##of(find(name, 0), to) ? to : NULL; \
    } \
    struct type *sim__posix_##by_id(uid_t id) \
    { \
        struct type *to = sim_new(sim_world_current, struct type); \
        return fill_##of(find(NULL, id), to) ? to : NULL; \
    } \
    int sim__posix_##by_name##_r( \
            const char *name, struct type *to, char *buffer, size_t size, struct type **ret) \
    { \
        (void)buffer; \
        (void)size; \
        *ret = fill_##of(find(name, 0), to) ? to : NULL; \
        return 0; \
    } \
    int sim__posix_##by_id##_r( \
            uid_t id, struct type *to, char *buffer, size_t size, struct type **ret) \
    { \
        (void)buffer; \
        (void)size; \
        *ret = fill_##of(find(NULL, id), to) ? to : NULL; \
        return 0; \
    }
ASKED_BY(passwd, user, getpwnam, getpwuid)
ASKED_BY(group, group, getgrnam, getgrgid)

int
sim__posix_getlogin_r(char *to, size_t size)
{
    static const char name[] = "user";
    if (size < sizeof(name)) {
        return ERANGE;
    }
    memcpy(to, name, sizeof(name));
    return 0;
}

char *
sim__posix_getlogin(void)
{
    return text("user");
}

int
sim__posix_getgroups(int size, gid_t *ret)
{
    if (size < 0) {
        return sim__posix_error(EINVAL);
    }
    if (size > 0) {
        ret[0] = sim__posix_getuid();
    }
    return 1;
}

int
sim__posix_getgrouplist(const char *user, gid_t group, gid_t *ret, int *count)
{
    (void)user;
    bool fits = *count >= 1;
    if (fits) {
        ret[0] = group;
    }
    *count = 1;
    return fits ? 1 : -1;
}

int
sim__posix_getresuid(uid_t *ret_real, uid_t *ret_effective, uid_t *ret_saved)
{
    *ret_real = *ret_effective = *ret_saved = sim__posix_getuid();
    return 0;
}

/* ---- Becoming another: only who it is already. ----------------------------------------------- */

static bool
is_own(uid_t id)
{
    return id == sim__posix_getuid() || id == (uid_t)-1;
}

int
sim__posix_setresuid(uid_t real, uid_t effective, uid_t saved)
{
    bool stays = is_own(real) && is_own(effective) && is_own(saved);
    return stays ? 0 : sim__posix_error(EPERM);
}

int
sim__posix_setreuid(uid_t real, uid_t effective)
{
    return sim__posix_setresuid(real, effective, (uid_t)-1);
}

int
sim__posix_setuid(uid_t id)
{
    return sim__posix_setresuid(id, id, id);
}

/* It leads its group already. */
int
sim__posix_setpgid(pid_t pid, pid_t group)
{
    pid_t self = sim__posix_getpid();
    if (pid != 0 && pid != self) {
        return sim__posix_error(ESRCH);
    }
    return group == 0 || group == self ? 0 : sim__posix_error(EPERM);
}
