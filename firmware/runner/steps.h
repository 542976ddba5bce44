/* Steps: what the stages of a lifetime are made of. Each works on one execution. */
#ifndef RUNNER_STEPS_H
#define RUNNER_STEPS_H

#include "ethosu/ethosu_error.h"

struct execution;

/* Memory of inputs and outputs that outlives their buffers: one, or two, or one for both. */
enum ethosu_error step_create_io_memory(struct execution *execution);
enum ethosu_error step_free_io_memory(struct execution *execution);

/* Map each memory of inputs and outputs once. One that fails undoes those before it. */
enum ethosu_error step_map_io(struct execution *execution);
enum ethosu_error step_unmap_io(struct execution *execution);

/* The driver's objects. Destroying goes in the reverse order of creation. */
enum ethosu_error step_create_network(struct execution *execution);
enum ethosu_error step_create_weights(struct execution *execution);
enum ethosu_error step_create_scratch(struct execution *execution);
enum ethosu_error step_create_inputs(struct execution *execution);
enum ethosu_error step_create_outputs(struct execution *execution);
enum ethosu_error step_destroy_objects(struct execution *execution);

/*
 * Scratch memory from the temporary allocator: no line of it is in the caches when the NPU gets it, nor, with
 * what was there before the NPU wrote, when it comes back.
 */
enum ethosu_error step_take_scratch(struct execution *execution);
enum ethosu_error step_give_scratch_back(struct execution *execution);
enum ethosu_error step_reset_temp(struct execution *execution);

/* One inference. Tensors go through a staging copy in temporary memory. */
enum ethosu_error step_rewind_inputs(struct execution *execution);
enum ethosu_error step_write_inputs(struct execution *execution);
enum ethosu_error step_submit(struct execution *execution);
enum ethosu_error step_wait(struct execution *execution);
enum ethosu_error step_clear_sram(struct execution *execution);
enum ethosu_error step_rewind_outputs(struct execution *execution);
enum ethosu_error step_read_outputs(struct execution *execution);
enum ethosu_error step_close_inference(struct execution *execution);

/*
 * The same for a model whose inputs and outputs lie in its scratch memory, which the CPU then touches: memory
 * that outlives the driver's objects, the scratch buffer in memory that is mapped on demand, and the copies.
 */
enum ethosu_error step_create_shared_scratch_memory(struct execution *execution);
enum ethosu_error step_create_shared_scratch(struct execution *execution);
enum ethosu_error step_write_inputs_to_scratch(struct execution *execution);
enum ethosu_error step_read_outputs_from_scratch(struct execution *execution);

/*
 * Variables: write what the next inference starts from into scratch memory, and take what the last one has
 * left there.
 */
enum ethosu_error step_write_state(struct execution *execution);
enum ethosu_error step_save_state(struct execution *execution);

#endif
