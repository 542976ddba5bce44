/* The allocators' lock for a program with threads: what takes the place of the firmware's temp_lock.c. */

#include "memory/temp_lock.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void temp_lock_take(void)
{
    pthread_mutex_lock(&lock);
}

void temp_lock_release(void)
{
    pthread_mutex_unlock(&lock);
}
