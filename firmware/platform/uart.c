#include "platform/uart.h"

#include "platform/system.h"

/* Register offsets and bits: Arm DDI 0183, PrimeCell UART (PL011), chapter 3. */
#define UART_DR 0x00
#define UART_FR 0x18
#define UART_IBRD 0x24
#define UART_FBRD 0x28
#define UART_LCR_H 0x2c
#define UART_CR 0x30
#define FR_BUSY (UINT32_C(1) << 3)
#define FR_TRANSMIT_FULL (UINT32_C(1) << 5)
#define LCR_H_8_BITS_FIFO UINT32_C(0x70)
#define CR_ENABLE UINT32_C(0x001)
#define CR_TRANSMIT UINT32_C(0x100)
#define CR_RECEIVE UINT32_C(0x200)

static uintptr_t uart;

void uart_initialise(uintptr_t base)
{
    uart = base;
    if ((mmio_read(uart + UART_CR) & CR_ENABLE) == 0) {
        mmio_write(uart + UART_IBRD, 1);
        mmio_write(uart + UART_FBRD, 0);
        mmio_write(uart + UART_LCR_H, LCR_H_8_BITS_FIFO); /* also latches the divisor */
        mmio_write(uart + UART_CR, CR_ENABLE | CR_TRANSMIT | CR_RECEIVE);
    }
}

void uart_write(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        while (mmio_read(uart + UART_FR) & FR_TRANSMIT_FULL) {
        }
        mmio_write(uart + UART_DR, (uint8_t)bytes[i]);
    }
}

void uart_flush(void)
{
    while (mmio_read(uart + UART_FR) & FR_BUSY) {
    }
}
