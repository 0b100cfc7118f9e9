/*
 * main.c -- runs a fuzz target over files and folders, without a fuzzer.
 *
 *      build/debug-gcc/fuzz/slab fuzz/corpus/slab crash-1234
 *      head -c 100 /dev/urandom | build/debug-gcc/fuzz/slab
 *
 * Files of a folder are run in the order of their names, including subfolders; without an argument
 * the one input is standard input. An input that stops the target is named on stderr.
 *
 * Exit status: 0 when all inputs ran, 2 when one could not be read; a finding ends the process by
 * the signal that killed the target, or by the status of the sanitizer that stopped it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

/* The current input, for the crash handler. */
static char running[1024];
static size_t count;

/* On a crash: prints the input's name, then lets the process die as without this handler. */
static void
name_the_input(int number)
{
    static const char says[] = "fuzz: stopped by the input ";
    (void)!write(STDERR_FILENO, says, sizeof says - 1);
    (void)!write(STDERR_FILENO, running, strlen(running));
    (void)!write(STDERR_FILENO, "\n", 1);
    signal(number, SIG_DFL);
    raise(number);
}

static _Noreturn void
die(const char *what, const char *path)
{
    fprintf(stderr, "fuzz: %s %s: %s\n", what, path, strerror(errno));
    exit(2);
}

/* Reads a whole stream into memory of exactly its size: an access beyond it is a finding. */
static uint8_t *
read_all(FILE *file, const char *path, size_t *ret_size)
{
    size_t size = 0;
    size_t capacity = 4096;
    uint8_t *bytes = malloc(capacity);
    while (bytes != 0) {
        size += fread(bytes + size, 1, capacity - size, file);
        if (size < capacity) {
            break;
        }
        capacity *= 2;
        bytes = realloc(bytes, capacity);
    }
    if (bytes == 0 || ferror(file)) {
        die("cannot read", path);
    }
    *ret_size = size;
    uint8_t *exact = realloc(bytes, size == 0 ? 1 : size);
    return exact == 0 ? bytes : exact;
}

static void
run_stream(FILE *file, const char *path)
{
    size_t size = 0;
    uint8_t *bytes = read_all(file, path, &size);
    snprintf(running, sizeof running, "%s", path);
    LLVMFuzzerTestOneInput(bytes, size);
    count += 1;
    free(bytes);
}

static int
is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void run_path(const char *path);

static void
run_folder(const char *path)
{
    struct dirent **entries = 0;
    int n = scandir(path, &entries, is_visible, alphasort);
    if (n < 0) {
        die("cannot open the folder", path);
    }
    for (int i = 0; i < n; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        run_path(inner);
        free(entries[i]);
    }
    free(entries);
}

static void
run_path(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        die("there is no input", path);
    }
    if (S_ISDIR(status.st_mode)) {
        run_folder(path);
        return;
    }
    FILE *file = fopen(path, "rb");
    if (file == 0) {
        die("cannot open", path);
    }
    run_stream(file, path);
    fclose(file);
}

int
main(int argc, char **argv)
{
    static const int deaths[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    for (size_t i = 0; i < sizeof deaths / sizeof deaths[0]; i++) {
        signal(deaths[i], name_the_input);
    }
    for (int i = 1; i < argc; i++) {
        run_path(argv[i]);
    }
    if (argc < 2) {
        run_stream(stdin, "standard input");
    }
    printf("%s: %zu input%s, nothing found\n", argv[0], count, count == 1 ? "" : "s");
    return 0;
}
