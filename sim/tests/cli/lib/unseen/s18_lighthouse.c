/* Cause: on_answer(), line 60: the answer is given to the oldest request, but two keepers answer in any order; repair: find the request by the number in the answer. */
#include <assert.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LAMPS 2

struct question {
    uint32_t number;
    uint32_t lamp;
    uint32_t brightness;
    int answered;
};

struct wire_message {
    uint32_t number;
    uint32_t value;
};

struct keeper {
    int from;
    int to;
};

static struct question questions[LAMPS];
static int asked_first;
static int open_questions = LAMPS;

static uint32_t
brightness_of(uint32_t lamp)
{
    return 100 + lamp * 11;
}

static void *
keeper_main(void *argument)
{
    struct keeper *keeper = argument;
    struct wire_message message;
    assert(read(keeper->from, &message, sizeof message) == sizeof message);
    message.value = brightness_of(message.value);
    assert(write(keeper->to, &message, sizeof message) == sizeof message);
    return NULL;
}

static void
on_answer(evutil_socket_t fd, short what, void *argument)
{
    struct event_base *base = argument;
    struct wire_message message;
    (void)what;
    if (read(fd, &message, sizeof message) != sizeof message) {
        return;
    }
#ifndef FIXED
    struct question *question = &questions[asked_first++];
#else
    struct question *question = &questions[message.number];
    asked_first++;
#endif
    question->brightness = message.value;
    question->answered = 1;
    if (--open_questions == 0) {
        event_base_loopbreak(base);
    }
}

int
main(void)
{
    int requests[2], answers[2];
    pthread_t threads[LAMPS];
    assert(pipe(requests) == 0 && pipe(answers) == 0);
    evutil_make_socket_nonblocking(answers[0]);
    struct event_base *base = event_base_new();
    struct event *event = event_new(base, answers[0], EV_READ | EV_PERSIST, on_answer, base);
    event_add(event, NULL);
    struct keeper keeper = {.from = requests[0], .to = answers[1]};
    for (int i = 0; i < LAMPS; i++) {
        pthread_create(&threads[i], NULL, keeper_main, &keeper);
    }
    for (uint32_t i = 0; i < LAMPS; i++) {
        questions[i] = (struct question){.number = i, .lamp = i};
        struct wire_message message = {.number = i, .value = i};
        assert(write(requests[1], &message, sizeof message) == sizeof message);
    }
    event_base_dispatch(base);
    for (int i = 0; i < LAMPS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < LAMPS; i++) {
        assert(questions[i].answered);
        assert(questions[i].brightness == brightness_of(questions[i].lamp));
    }
    event_free(event);
    event_base_free(base);
    puts("all lamps read");
    return 0;
}
