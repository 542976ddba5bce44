/* The program: set up the board, say hello, do what the plan says, say bye. */

#include "ethosu/ethosu_device.h"
#include "platform.h"
#include "platform/counters.h"
#include "platform/uart.h"
#include "runner/meter.h"
#include "runner/plan.h"
#include "runner/report.h"

static struct ethosu_device device;

/* Why the board cannot run the plan, or NULL. */
static const char *find_obstacle(void)
{
    const struct ethosu_platform npu = {
        .registers = NPU_BASE,
        .sram_base = NPU_SRAM_BASE,
        .sram_size = NPU_SRAM_SIZE,
        .pool_base = DMA_POOL_BASE,
        .pool_size = DMA_POOL_SIZE,
        .zero_on_destroy = plan.zero_on_destroy,
    };

    if (counters_ticks_per_second() == 0) {
        return "no-timer-frequency";
    }
    if (meter_window() == 0) {
        return "no-instruction-counter";
    }
    enum ethosu_error error = ethosu_device_probe(&device, &npu);
    return error == ETHOSU_OK ? NULL : ethosu_error_name(error);
}

void main(void);

void main(void)
{
    uart_initialise(UART_BASE);
    counters_enable();
    meter_initialise();
    const char *obstacle = find_obstacle();
    report_hello(&device);
    if (obstacle != NULL) {
        report_driver_fault(obstacle, "start");
    } else {
        report_clock();
        plan.program(&device);
        if (counters_overflowed()) {
            report_driver_fault("counter-overflow", "meter");
        }
    }
    report_bye();
}
