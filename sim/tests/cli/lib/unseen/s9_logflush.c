// Cause: journal_sync() assigns `journal.target = number` whatever is there. A caller whose number is smaller (taken
// earlier, entered later) lowers the target that another one has set; the writer reaches the smaller one and sleeps,
// and the caller with the larger number waits for `reached` forever. The target may only be raised: `if (target <
// number) target = number`.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* An asynchronous logger: threads append records, one thread writes them out. A caller that needs
 * its record on disk waits for the number of that record. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#define CALLERS 3
#define BUFFER 1024

struct journal {
    mtx_t append_lock;
    char buffer[BUFFER];
    size_t used;
    uint64_t appended;

    mtx_t sync_lock;
    cnd_t wanted;
    cnd_t reached;
    uint64_t target;
    uint64_t durable;
    bool closing;
    int out;
};

static struct journal journal;

static uint64_t
journal_append(const char *text)
{
    mtx_lock(&journal.append_lock);
    size_t size = strlen(text);
    memcpy(journal.buffer + journal.used, text, size);
    journal.used += size;
    uint64_t number = ++journal.appended;
    mtx_unlock(&journal.append_lock);
    return number;
}

static void
journal_sync(uint64_t number)
{
    mtx_lock(&journal.sync_lock);
    if (journal.durable < number) {
#ifdef FIXED
        if (journal.target < number) {
            journal.target = number;
        }
#else
        journal.target = number;
#endif
        cnd_signal(&journal.wanted);
        while (journal.durable < number) {
            cnd_wait(&journal.reached, &journal.sync_lock);
        }
    }
    mtx_unlock(&journal.sync_lock);
}

/* Takes the records up to `number` out of the buffer; each is one line. */
static size_t
journal_take(uint64_t count, char *to)
{
    mtx_lock(&journal.append_lock);
    size_t end = 0;
    while (count > 0 && end < journal.used) {
        count -= journal.buffer[end++] == '\n';
    }
    memcpy(to, journal.buffer, end);
    memmove(journal.buffer, journal.buffer + end, journal.used - end);
    journal.used -= end;
    mtx_unlock(&journal.append_lock);
    return end;
}

static int
writer(void *argument)
{
    char text[BUFFER];
    (void)argument;
    mtx_lock(&journal.sync_lock);
    for (;;) {
        while (journal.target <= journal.durable && !journal.closing) {
            cnd_wait(&journal.wanted, &journal.sync_lock);
        }
        if (journal.target <= journal.durable) {
            break;
        }
        uint64_t upto = journal.target;
        uint64_t count = upto - journal.durable;
        mtx_unlock(&journal.sync_lock);
        size_t size = journal_take(count, text);
        (void)!write(journal.out, text, size);
        mtx_lock(&journal.sync_lock);
        journal.durable = upto;
        cnd_broadcast(&journal.reached);
    }
    mtx_unlock(&journal.sync_lock);
    return 0;
}

static int
caller(void *argument)
{
    char line[64];
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof(line), "%s: entry %d\n", (const char *)argument, i);
        journal_sync(journal_append(line));
    }
    return 0;
}

int
main(void)
{
    static const char *const names[CALLERS] = {"db", "net", "cache"};
    thrd_t threads[CALLERS], out;
    int pipe_fds[2];
    if (pipe(pipe_fds) != 0) {
        return 1;
    }
    journal.out = pipe_fds[1];
    mtx_init(&journal.append_lock, mtx_plain);
    mtx_init(&journal.sync_lock, mtx_plain);
    cnd_init(&journal.wanted);
    cnd_init(&journal.reached);
    thrd_create(&out, writer, NULL);
    for (int i = 0; i < CALLERS; i++) {
        thrd_create(&threads[i], caller, (void *)names[i]);
    }
    for (int i = 0; i < CALLERS; i++) {
        thrd_join(threads[i], NULL);
    }
    mtx_lock(&journal.sync_lock);
    journal.closing = true;
    cnd_signal(&journal.wanted);
    mtx_unlock(&journal.sync_lock);
    thrd_join(out, NULL);
    return 0;
}
