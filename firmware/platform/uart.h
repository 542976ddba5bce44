/* The console: a PL011 UART, written by polling. */
#ifndef PLATFORM_UART_H
#define PLATFORM_UART_H

#include <stddef.h>
#include <stdint.h>

/*
 * Use the UART whose registers start at `base`; may be called again. One that an earlier stage has enabled is
 * left as it is, with its baud rate; one that is off is enabled with 8 data bits and the fastest divisor.
 */
void uart_initialise(uintptr_t base);

/* Send bytes; waits while the transmit FIFO is full. */
void uart_write(const char *bytes, size_t count);

/* Wait until the last byte has left the UART. */
void uart_flush(void);

#endif
