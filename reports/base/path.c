/*
 * path.c -- from the compiler's path to the repository's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/base/path.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/assert.h"

/* ---- The folders in which a library was compiled. -------------------------------------------- */

/* Of the process: one library at a time, as lists are sorted by it. */
static struct {
    char *library; /* NULL: none was asked yet. */
    char **folders;
    size_t count;
} built;

static void
forget_folders(void)
{
    for (size_t i = 0; i < built.count; i++) {
        free(built.folders[i]);
    }
    free(built.folders);
    free(built.library);
    built.folders = NULL;
    built.library = NULL;
    built.count = 0;
}

static void
add_folder(const char *folder)
{
    for (size_t i = 0; i < built.count; i++) {
        if (strcmp(built.folders[i], folder) == 0) {
            return;
        }
    }
    built.folders = reallocarray(built.folders, built.count + 1, sizeof(*built.folders));
    rt_assert(built.folders != NULL);
    built.folders[built.count] = strdup(folder);
    rt_assert(built.folders[built.count] != NULL);
    built.count++;
}

static void
read_units(Dwfl *dwfl)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = NULL;
    while ((unit = dwfl_nextcu(dwfl, unit, &bias)) != NULL) {
        Dwarf_Attribute attribute;
        const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
        if (folder != NULL && folder[0] == '/') {
            add_folder(folder);
        }
    }
}

static void
find_folders(const char *library)
{
    static const Dwfl_Callbacks callbacks = {
            .find_elf = dwfl_build_id_find_elf,
            .find_debuginfo = dwfl_standard_find_debuginfo,
            .section_address = dwfl_offline_section_address,
    };
    if (built.library != NULL && strcmp(built.library, library) == 0) {
        return;
    }
    forget_folders();
    built.library = strdup(library);
    rt_assert(built.library != NULL);
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl != NULL && dwfl_report_offline(dwfl, "", library, -1) != NULL &&
            dwfl_report_end(dwfl, NULL, NULL) == 0) {
        read_units(dwfl);
    }
    if (dwfl != NULL) {
        dwfl_end(dwfl);
    }
}

/* ---- Which file it is. ----------------------------------------------------------------------- */

static char *
join(const char *folder, const char *file)
{
    char *path = NULL;
    int made = asprintf(&path, "%s/%s", folder, file);
    rt_assert(made >= 0);
    return path;
}

/* `folder`/`file`, without links and "..": NULL where there is no such file. */
static char *
find_below(const char *folder, const char *file)
{
    char *path = join(folder, file);
    char *real = realpath(path, NULL);
    free(path);
    return real;
}

/* Its absolute path; NULL: it is not found. */
static char *
find_file(const char *file, const char *library)
{
    char *found = realpath(file, NULL);
    if (found != NULL || file[0] == '/') {
        return found;
    }
    find_folders(library != NULL && library[0] != '\0' ? library : "/proc/self/exe");
    for (size_t i = 0; i < built.count && found == NULL; i++) {
        found = find_below(built.folders[i], file);
    }
    return found;
}

/* ---- What it is called. ---------------------------------------------------------------------- */

/* What follows `folder` and a slash; NULL: it is not below it. */
static const char *
below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/') {
        length--;
    }
    bool is_below = strncmp(path, folder, length) == 0 && path[length] == '/';
    return is_below && path[length + 1] != '\0' ? path + length + 1 : NULL;
}

/* Below `folder`, which may be a link. */
static const char *
below_real(const char *path, const char *folder)
{
    char *real = folder != NULL && folder[0] != '\0' ? realpath(folder, NULL) : NULL;
    const char *rest = real != NULL ? below(path, real) : NULL;
    free(real);
    return rest;
}

/* Below the nearest folder that has a ".git", which is a file in a linked work tree. */
static const char *
below_git(const char *path)
{
    char *folder = strdup(path);
    const char *rest = NULL;
    rt_assert(folder != NULL);
    for (char *slash = strrchr(folder, '/'); slash != NULL && slash != folder && rest == NULL;
            slash = strrchr(folder, '/')) {
        *slash = '\0';
        char *git = join(folder, ".git");
        rest = access(git, F_OK) == 0 ? below(path, folder) : NULL;
        free(git);
    }
    free(folder);
    return rest;
}

char *
report_path(const char *file, const char *library)
{
    char *path = file[0] != '\0' ? find_file(file, library) : NULL;
    const char *name = NULL;
    if (path != NULL) {
        name = below_real(path, getenv("GITHUB_WORKSPACE"));
        name = name != NULL ? name : below_git(path);
        name = name != NULL ? name : below_real(path, ".");
        name = name == NULL && file[0] == '/' ? path : name;
    }
    char *copy = strdup(name != NULL ? name : file);
    rt_assert(copy != NULL);
    free(path);
    return copy;
}
