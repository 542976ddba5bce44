#include "ethosu/ethosu_error.h"

static const char *const names[] = {
    [ETHOSU_OK] = "ok",
    [ETHOSU_ZERO_SIZE] = "zero-size",
    [ETHOSU_OUT_OF_MEMORY] = "out-of-memory",
    [ETHOSU_NO_SPACE] = "no-space",
    [ETHOSU_SHORT_READ] = "short-read",
    [ETHOSU_BAD_STREAM] = "bad-stream",
    [ETHOSU_WRONG_CONFIG] = "wrong-config",
    [ETHOSU_WRONG_VERSION] = "wrong-version",
    [ETHOSU_MISALIGNED] = "misaligned",
    [ETHOSU_BUSY] = "busy",
    [ETHOSU_NPU_FAULT] = "npu-fault",
    [ETHOSU_TIMED_OUT] = "timed-out",
    [ETHOSU_NO_CYCLES] = "no-cycles",
    [ETHOSU_ALREADY_MAPPED] = "already-mapped",
    [ETHOSU_NOT_MAPPED] = "not-mapped",
    [ETHOSU_NO_HEAP] = "no-heap",
    [ETHOSU_INJECTED] = "injected",
    [ETHOSU_NO_NPU] = "no-npu",
    [ETHOSU_RESET_FAILED] = "reset-failed",
};

const char *ethosu_error_name(enum ethosu_error error)
{
    return names[error];
}
