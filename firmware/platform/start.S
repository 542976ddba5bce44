/*
 * Start-up: from the image's first byte, at whatever exception level, to main() at EL1.
 *
 * The image may be the first code after reset (EL3) or be started by a boot loader (EL2 or EL1) that has its
 * own page tables and caches on. Each level is left with its caches cleaned and its MMU off, so that what the
 * earlier stage wrote is in memory before EL1 maps it anew. Entry arguments are ignored.
 */

#define SCTLR_M_C       0x0005          /* MMU and data cache enable */
#define SCTLR_M_C_I     0x1005
#define SCTLR_EL1_OFF   0x30d00800      /* the RES1 bits of Armv8.0; MMU and caches off */
#define SCR_EL3_TO_EL2  0x08000531      /* NS, HCE, RW, RES1; FGTEn: EL2 may write its fine-grained traps */
#define HCR_EL2_RW      (1 << 31)       /* EL1 is AArch64; nothing is trapped */
#define CPTR_EL2_RES1   0x33ff
#define SPSR_EL2H       0x3c9           /* EL2 with its own stack pointer, interrupts masked */
#define SPSR_EL1H       0x3c5

/* Names of Armv8.6 registers that an assembler for generic Armv8 does not know. */
#define HFGRTR_EL2      s3_4_c1_c1_4
#define HFGWTR_EL2      s3_4_c1_c1_5
#define HFGITR_EL2      s3_4_c1_c1_6
#define HDFGRTR_EL2     s3_4_c3_c1_4
#define HDFGWTR_EL2     s3_4_c3_c1_5

/* Clean and switch off what the stage before us left on at this level. */
.macro  leave_stage level
        mrs     x9, sctlr_\level
        mov     x10, #SCTLR_M_C
        tst     x9, x10
        b.eq    1f
        bl      clean_data_caches
        mrs     x9, sctlr_\level
        mov     x10, #SCTLR_M_C_I
        bic     x9, x9, x10
        msr     sctlr_\level, x9
        isb
1:      ic      iallu
        dsb     sy
        isb
.endm

        .section .text.start, "ax"
        .global _start
        .type   _start, %function
_start:
        msr     daifset, #15
        mrs     x0, currentel
        cmp     x0, #(3 << 2)
        b.eq    at_el3
        cmp     x0, #(2 << 2)
        b.eq    at_el2
        b       at_el1

at_el3:
        leave_stage el3
        ldr     x0, =SCR_EL3_TO_EL2
        msr     scr_el3, x0
        msr     cptr_el3, xzr
        msr     mdcr_el3, xzr           /* no PMU or debug access traps */
        mov     x0, #SPSR_EL2H
        msr     spsr_el3, x0
        adr     x0, at_el2
        msr     elr_el3, x0
        isb
        eret

at_el2:
        leave_stage el2
        mov     x0, #HCR_EL2_RW
        msr     hcr_el2, x0
        isb                             /* E2H is off: the registers below have their EL2 layout */
        mov     x0, #CPTR_EL2_RES1
        msr     cptr_el2, x0
        msr     hstr_el2, xzr
        msr     vttbr_el2, xzr
        mov     x0, #3                  /* EL1 may read the physical counter and timer */
        msr     cnthctl_el2, x0
        msr     cntvoff_el2, xzr
        mrs     x0, pmcr_el0
        ubfx    x0, x0, #11, #5
        msr     mdcr_el2, x0            /* HPMN: all event counters belong to EL1 */
        mrs     x0, midr_el1
        msr     vpidr_el2, x0
        mrs     x0, mpidr_el1
        msr     vmpidr_el2, x0
        mrs     x0, id_aa64mmfr0_el1
        ubfx    x0, x0, #56, #4
        cbz     x0, 2f
        msr     HFGRTR_EL2, xzr
        msr     HFGWTR_EL2, xzr
        msr     HFGITR_EL2, xzr
        msr     HDFGRTR_EL2, xzr
        msr     HDFGWTR_EL2, xzr
2:      mov     x0, #SPSR_EL1H
        msr     spsr_el2, x0
        adr     x0, at_el1
        msr     elr_el2, x0
        isb
        eret

at_el1:
        leave_stage el1
        ldr     x0, =SCTLR_EL1_OFF
        msr     sctlr_el1, x0
        isb
        adrp    x0, exception_vectors
        add     x0, x0, :lo12:exception_vectors
        msr     vbar_el1, x0
        msr     cpacr_el1, xzr          /* no floating point: using it by mistake is an exception */
        isb
        adrp    x0, stack_end
        add     x0, x0, :lo12:stack_end
        mov     sp, x0
        msr     daifclr, #4             /* a pending asynchronous abort is reported, not kept */
        adrp    x0, bss_start
        add     x0, x0, :lo12:bss_start
        adrp    x2, bss_end
        add     x2, x2, :lo12:bss_end
        sub     x2, x2, x0
        mov     w1, #0
        bl      memset
        bl      mmu_enable
        bl      main
        .global halt
        .type   halt, %function
halt:
        wfi
        b       halt

/*
 * Clean and invalidate every data cache up to the level of coherency, by set and way, which is enough for a
 * processor that runs alone; CLIDR_EL1, CCSIDR_EL1 and DC CISW are as in Arm DDI 0487. Touches no memory, so
 * that no line is dirty again at its end. Clobbers x0-x12.
 */
        .type   clean_data_caches, %function
clean_data_caches:
        dsb     sy
        mrs     x0, clidr_el1
        mrs     x1, id_aa64mmfr2_el1
        ubfx    x1, x1, #20, #4         /* CCIDX: CCSIDR has its 64-bit layout */
        ubfx    x2, x0, #24, #3         /* level of coherency */
        mov     x3, #0                  /* cache level, from 0 */
3:      cmp     x3, x2
        b.hs    7f
        add     x4, x3, x3, lsl #1
        lsr     x4, x0, x4
        and     x4, x4, #7              /* cache type at this level; below 2 there is no data cache */
        cmp     x4, #2
        b.lo    6f
        lsl     x5, x3, #1
        msr     csselr_el1, x5
        isb
        mrs     x6, ccsidr_el1
        and     x7, x6, #7
        add     x7, x7, #4              /* log2 of the line's bytes */
        ubfx    x8, x6, #3, #10         /* ways - 1 */
        ubfx    x9, x6, #13, #15        /* sets - 1 */
        cbz     x1, 4f
        ubfx    x8, x6, #3, #21
        ubfx    x9, x6, #32, #24
4:      clz     w10, w8                 /* the way stands at the top of the operand */
        mov     x11, x8
5:      lsl     x12, x11, x10
        orr     x12, x12, x5
        lsl     x4, x9, x7
        orr     x12, x12, x4
        dc      cisw, x12
        subs    x11, x11, #1
        b.hs    5b
        subs    x9, x9, #1
        b.hs    4b
6:      add     x3, x3, #1
        b       3b
7:      msr     csselr_el1, xzr
        dsb     sy
        isb
        ret
