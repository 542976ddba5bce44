/* The core driver's common part, as the checkout has it. */

#include "adapters/core_driver/settings.h"

#include <src/ethosu_driver.c>
