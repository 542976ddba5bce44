"""The platform's memories decide how long the NPU takes, and events that it does not count are named."""

from __future__ import annotations

# Region 0 goes through the external port; the cycle counter counts from 0.
COPY = """
  load x1, NPU
  mov w3, #4
  str w3, [x1, #0x40]
  load x4, NPU + 0x1180
  mov w3, #5
  str w3, [x4]
  mov w3, #0x80000000
  str w3, [x4, #4]
  npu_copy 0xA0000000, 0xA1000000, 4096
  ldr w5, [x4, #0x20]
  put_hex x5
  finish
"""
ASK_FOR_MAC_DPU_ACTIVE = """
  load x1, NPU + 0x1380
  mov w2, #51
  str w2, [x1]
  ldr w5, [x1]
  put_hex x5
  finish
"""


LARGEST = ("-C", "host.ethosu.num_macs=2048")  # whose read buffers do not limit it to what all DRAMs give


def cycles(execute, memory):
    choice = ("-C", f"host.ethosu.system_config=Ethos_U85_SYS_DRAM_{memory}")
    (count,) = execute(COPY, *LARGEST, *choice).numbers
    return count


def test_copy_through_the_external_port_takes_longer_with_slower_dram(execute):
    assert cycles(execute, "Low") > cycles(execute, "Mid") > 4096 // 12


def test_default_memory_is_the_middle_one(execute):
    assert execute(COPY, *LARGEST).numbers == [cycles(execute, "Mid")]


def test_event_that_is_not_counted_is_named_at_the_end(simulator):
    run = simulator.run(ASK_FOR_MAC_DPU_ACTIVE)
    assert run.numbers == [0]
    assert run.stderr == "Warning: Ethos-U85: PMU event 51 (MAC_DPU_ACTIVE) is not counted\n"
