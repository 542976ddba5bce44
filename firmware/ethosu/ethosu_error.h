/* What driver calls return. */
#ifndef ETHOSU_ERROR_H
#define ETHOSU_ERROR_H

enum ethosu_error {
    ETHOSU_OK,
    ETHOSU_ZERO_SIZE,      /* a buffer or stream of no bytes */
    ETHOSU_OUT_OF_MEMORY,  /* the DMA pool has no room for it */
    ETHOSU_NO_SPACE,       /* a write past the end of a buffer: was it rewound? */
    ETHOSU_SHORT_READ,     /* a read got fewer bytes than the tensor has: was it rewound? */
    ETHOSU_BAD_STREAM,     /* the payload is not a COP2 command stream that this driver accepts */
    ETHOSU_WRONG_CONFIG,   /* compiled for another NPU configuration */
    ETHOSU_WRONG_VERSION,  /* compiled for an architecture version that the NPU does not have */
    ETHOSU_MISALIGNED,     /* the stream, or what it works on, does not start at a multiple of 16 */
    ETHOSU_BUSY,           /* another inference is running */
    ETHOSU_NPU_FAULT,      /* the NPU stopped with an error */
    ETHOSU_TIMED_OUT,      /* the NPU did not finish in time */
    ETHOSU_NO_CYCLES,      /* the NPU finished, but its cycle counter stood still */
    ETHOSU_ALREADY_MAPPED, /* the CPU may touch that memory already */
    ETHOSU_NOT_MAPPED,     /* there is no mapping to end */
    ETHOSU_NO_HEAP,        /* the heap has no room for temporary memory */
    ETHOSU_INJECTED,       /* made to fail: see ethosu_device_must_fail() */
    ETHOSU_NO_NPU,         /* the device is not an Ethos-U85 */
    ETHOSU_RESET_FAILED,   /* the NPU did not come out of reset as asked */
};

/* The error as one lower-case word with hyphens, for records. */
const char *ethosu_error_name(enum ethosu_error error);

#endif
