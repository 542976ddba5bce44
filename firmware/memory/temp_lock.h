/*
 * The lock of all temporary allocators: held while one of them, or its heap, changes.
 *
 * temp_lock.c is for a program with one thread. A program with several links its own two functions instead.
 */
#ifndef MEMORY_TEMP_LOCK_H
#define MEMORY_TEMP_LOCK_H

/* Wait until no other thread holds the lock, and hold it. */
void temp_lock_take(void);

/* Let go of the lock. */
void temp_lock_release(void);

#endif
