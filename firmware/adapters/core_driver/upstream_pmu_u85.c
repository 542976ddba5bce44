/* The core driver's counters of the Ethos-U85, which its common part refers to in newer releases. */

#include "adapters/core_driver/settings.h"

#include <src/ethosu_pmu_u85.c>
