/*
 * Exception vectors of EL1: every exception is fatal, and goes to exception_entry() with the vector's number.
 *
 * Nothing is saved, since nothing returns; the handler has a stack of its own, so that a broken stack pointer
 * can still be reported.
 */

.macro  vector number
        .balign 128
        mov     x0, #\number
        b       enter
.endm

        .section .text.vectors, "ax"
        .balign 2048
        .global exception_vectors
exception_vectors:
        vector  0
        vector  1
        vector  2
        vector  3
        vector  4
        vector  5
        vector  6
        vector  7
        vector  8
        vector  9
        vector  10
        vector  11
        vector  12
        vector  13
        vector  14
        vector  15

        .balign 128
enter:
        msr     spsel, #1
        adrp    x1, exception_stack_end
        add     x1, x1, :lo12:exception_stack_end
        mov     sp, x1
        bl      exception_entry

        .section .bss.exception_stack, "aw", %nobits
        .balign 16
        .skip   4096
exception_stack_end:
