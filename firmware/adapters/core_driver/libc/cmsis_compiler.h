/* For the core driver: what its own semaphores wait with. The adapter's take their place. */
#ifndef LIBC_CMSIS_COMPILER_H
#define LIBC_CMSIS_COMPILER_H

#define __WFE() __asm__ volatile("wfe")
#define __SEV() __asm__ volatile("sev")

#endif
