/* The core driver's part for the Ethos-U85, as the checkout has it; newer releases have another name for it.
 */

#include "adapters/core_driver/settings.h"

#if __has_include(<src/ethosu_backend_u85.c>)
#include <src/ethosu_backend_u85.c>
#else
#include <src/ethosu_device_u85.c>
#endif
