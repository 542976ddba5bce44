/*
 * Which NPU the core driver is compiled for, as its CMakeLists.txt would define it, and a name for each form
 * of its cache hooks. To be included before any of its files.
 */
#ifndef CORE_DRIVER_VARIANT_H
#define CORE_DRIVER_VARIANT_H

#define ETHOSU
#define ETHOSU85
#define ETHOSU_ARCH u85
#define ETHOSU_MACS 256 /* only ethosu_reserve_driver() looks at it, which nobody calls */

/*
 * Older releases hand the cache hooks one range, newer ones lists of ranges. Declaration, definition and call
 * of a hook are all told apart here by their number of parameters, so that each form has a name of its own.
 */
#define HOOK_OF_2_OR_3(first, second, third, name, ...) name
#define ethosu_flush_dcache(...) \
    HOOK_OF_2_OR_3(__VA_ARGS__, core_driver_clean_ranges, core_driver_clean, )(__VA_ARGS__)
#define ethosu_invalidate_dcache(...) \
    HOOK_OF_2_OR_3(__VA_ARGS__, core_driver_invalidate_ranges, core_driver_invalidate, )(__VA_ARGS__)

#endif
