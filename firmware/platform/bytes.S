/*
 * memcpy and memset, whose instruction counts grow in proportion to the bytes.
 *
 * The compiler emits calls to both. With strict alignment a loop written in C moves one byte at a time; these
 * move 64 bytes a turn, then 16, then single bytes. Pairs of registers need 8-byte alignment; where it is
 * missing every byte is moved alone.
 */

        .text

/* void *memcpy(void *to, const void *from, size_t size): the areas must not overlap. */
        .global memcpy
        .type   memcpy, %function
        .balign 16
memcpy:
        mov     x3, x0
        orr     x4, x0, x1
        tst     x4, #7
        b.ne    3f
        subs    x2, x2, #64
        b.lo    1f
0:      ldp     x4, x5, [x1]
        ldp     x6, x7, [x1, #16]
        ldp     x8, x9, [x1, #32]
        ldp     x10, x11, [x1, #48]
        stp     x4, x5, [x3]
        stp     x6, x7, [x3, #16]
        stp     x8, x9, [x3, #32]
        stp     x10, x11, [x3, #48]
        add     x1, x1, #64
        add     x3, x3, #64
        subs    x2, x2, #64
        b.hs    0b
1:      adds    x2, x2, #48             /* 64 given back, 16 taken */
        b.mi    2f
10:     ldp     x4, x5, [x1], #16
        stp     x4, x5, [x3], #16
        subs    x2, x2, #16
        b.pl    10b
2:      add     x2, x2, #16
3:      cbz     x2, 5f
4:      ldrb    w4, [x1], #1
        strb    w4, [x3], #1
        subs    x2, x2, #1
        b.ne    4b
5:      ret

/* void *memset(void *to, int value, size_t size) */
        .global memset
        .type   memset, %function
        .balign 16
memset:
        mov     x3, x0
        and     x4, x1, #0xff
        orr     x4, x4, x4, lsl #8
        orr     x4, x4, x4, lsl #16
        orr     x4, x4, x4, lsl #32
        tst     x0, #7
        b.ne    3f
        subs    x2, x2, #64
        b.lo    1f
0:      stp     x4, x4, [x3]
        stp     x4, x4, [x3, #16]
        stp     x4, x4, [x3, #32]
        stp     x4, x4, [x3, #48]
        add     x3, x3, #64
        subs    x2, x2, #64
        b.hs    0b
1:      adds    x2, x2, #48
        b.mi    2f
10:     stp     x4, x4, [x3], #16
        subs    x2, x2, #16
        b.pl    10b
2:      add     x2, x2, #16
3:      cbz     x2, 5f
4:      strb    w4, [x3], #1
        subs    x2, x2, #1
        b.ne    4b
5:      ret
