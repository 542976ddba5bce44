/* The core driver's part for the Ethos-U85, under the name that newer releases give it. */

#include "adapters/core_driver/settings.h"

#include <src/ethosu_backend_u85.c>
