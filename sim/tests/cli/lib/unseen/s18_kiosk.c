/* Cause: ask(), line 64: an answer that comes after the time limit leaves its post in the semaphore, and the next question takes that for its own answer; repair: compare the number of the answer, and wait again for another one. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define QUESTIONS 3

struct kiosk {
    pthread_mutex_t lock;
    sem_t asked;
    sem_t answered;
    int question;
    int answer_to;
    int answer;
    int over;
};

static struct kiosk kiosk = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *
seller(void *argument)
{
    (void)argument;
    for (;;) {
        sem_wait(&kiosk.asked);
        pthread_mutex_lock(&kiosk.lock);
        int question = kiosk.question, over = kiosk.over;
        pthread_mutex_unlock(&kiosk.lock);
        if (over) {
            return NULL;
        }
        usleep(3000);
        pthread_mutex_lock(&kiosk.lock);
        kiosk.answer_to = question;
        kiosk.answer = question * 10;
        pthread_mutex_unlock(&kiosk.lock);
        sem_post(&kiosk.answered);
    }
}

/* Returns the price, or -1 when nobody has answered in time. */
static int
ask(int question)
{
    struct timespec until;
    int price;
    pthread_mutex_lock(&kiosk.lock);
    kiosk.question = question;
    pthread_mutex_unlock(&kiosk.lock);
    sem_post(&kiosk.asked);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 8000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
#ifdef FIXED
again:
#endif
    if (sem_timedwait(&kiosk.answered, &until) != 0) {
        assert(errno == ETIMEDOUT);
        return -1;
    }
    pthread_mutex_lock(&kiosk.lock);
#ifdef FIXED
    if (kiosk.answer_to != question) {
        pthread_mutex_unlock(&kiosk.lock);
        goto again;
    }
#endif
    price = kiosk.answer;
    pthread_mutex_unlock(&kiosk.lock);
    return price;
}

int
main(void)
{
    pthread_t thread;
    int unanswered = 0;
    sem_init(&kiosk.asked, 0, 0);
    sem_init(&kiosk.answered, 0, 0);
    pthread_create(&thread, NULL, seller, NULL);
    for (int question = 1; question <= QUESTIONS; question++) {
        int price = ask(question);
        assert(price == -1 || price == question * 10);
        unanswered += price == -1;
    }
    pthread_mutex_lock(&kiosk.lock);
    kiosk.over = 1;
    pthread_mutex_unlock(&kiosk.lock);
    sem_post(&kiosk.asked);
    pthread_join(thread, NULL);
    printf("%d without an answer\n", unanswered);
    return 0;
}
