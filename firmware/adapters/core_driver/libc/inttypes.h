/* For the core driver: the integer types, and the formats that its log names. Nothing is printed with them.
 */
#ifndef LIBC_INTTYPES_H
#define LIBC_INTTYPES_H

#include <stdint.h>

#define PRId32 "d"
#define PRIu32 "u"
#define PRIx32 "x"
#define PRIu64 "lu"
#define PRIx64 "lx"

#endif
