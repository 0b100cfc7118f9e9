/* Cause: take_lines(), lines 65-66: after complete lines were taken the rest of the buffer is forgotten (used = 0), though a part of the next line may stand there, when a read returned the end of one line and the beginning of the next. The second half then comes alone. Harm: assert(collector.malformed == 0), line 101 (or lines 102, 103). Fix: move the rest to the front. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READINGS 6

struct meter {
    int fd;
    int readings[READINGS];
};

struct collector {
    int fd;
    char buffer[64];
    size_t used;
    long sum;
    int lines;
    int malformed;
};

static void *meter_main(void *argument)
{
    struct meter *meter = argument;
    for (int i = 0; i < READINGS; i++) {
        char value[16];
        int n = snprintf(value, sizeof value, "%d", meter->readings[i]);
        if (write(meter->fd, "kWh=", 4) != 4 || write(meter->fd, value, (size_t)n) != n ||
                write(meter->fd, "\n", 1) != 1) {
            break;
        }
    }
    close(meter->fd);
    return NULL;
}

static void take_line(struct collector *collector, const char *line)
{
    if (strncmp(line, "kWh=", 4) != 0) {
        collector->malformed++;
        return;
    }
    collector->sum += strtol(line + 4, NULL, 10);
    collector->lines++;
}

/* Takes all complete lines out of the buffer. */
static void take_lines(struct collector *collector)
{
    char *from = collector->buffer;
    char *end = collector->buffer + collector->used;
    char *newline;
    while ((newline = memchr(from, '\n', (size_t)(end - from))) != NULL) {
        *newline = '\0';
        take_line(collector, from);
        from = newline + 1;
    }
#ifdef FIXED
    collector->used = (size_t)(end - from);
    memmove(collector->buffer, from, collector->used);
#else
    if (from > collector->buffer) {
        collector->used = 0;
    }
#endif
}

static void collect(struct collector *collector)
{
    for (;;) {
        size_t space = sizeof collector->buffer - collector->used;
        ssize_t n = read(collector->fd, collector->buffer + collector->used, space);
        if (n <= 0) {
            break;
        }
        collector->used += (size_t)n;
        take_lines(collector);
    }
}

int main(void)
{
    int ends[2];
    pthread_t thread;
    long expected = 0;
    if (pipe(ends) != 0) {
        return 1;
    }
    struct meter meter = {.fd = ends[1], .readings = {12, 407, 9, 55, 1300, 8}};
    struct collector collector = {.fd = ends[0]};
    for (int i = 0; i < READINGS; i++) {
        expected += meter.readings[i];
    }
    pthread_create(&thread, NULL, meter_main, &meter);
    collect(&collector);
    pthread_join(thread, NULL);
    close(collector.fd);
    assert(collector.malformed == 0);
    assert(collector.lines == READINGS);
    assert(collector.sum == expected);
    printf("%d readings, %ld kWh\n", collector.lines, collector.sum);
    return 0;
}
