/* The core driver's part for the Ethos-U85, as the checkout has it. */

#include "adapters/core_driver/settings.h"

#include <src/ethosu_device_u85.c>
