/* For the core driver: an assertion that fails is an exception, which the runner reports. */
#ifndef LIBC_ASSERT_H
#define LIBC_ASSERT_H

#define assert(condition) ((condition) ? (void)0 : __builtin_trap())
#define static_assert _Static_assert

#endif
