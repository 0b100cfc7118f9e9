/*
 * string.cpp -- a thread writes into a string that another one has made longer meanwhile: the C++
 * library has freed its memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mutex>
#include <string>
#include <thread>

#include <unistd.h>

static std::mutex mutex;
static std::string text(40, '.');

static void mark()
{
    mutex.lock();
    char *at = &text[3];
    mutex.unlock();
    usleep(100);
    *at = 'x';
}

static void add(const std::string &more)
{
    std::lock_guard<std::mutex> hold(mutex);
    text.append(more);
}

int main()
{
    std::thread marker(mark);
    usleep(50);
    add(std::string(100, '-'));
    marker.join();
    return text.size() == 140 ? 0 : 1;
}
