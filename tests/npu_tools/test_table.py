"""A profile as a table."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from harness.npu_tools.table import SHOWN, WIDTH, compact, print_profile


def printed(profile, **options) -> list[str]:
    console = Console(file=io.StringIO(), width=WIDTH)
    print_profile(profile, console, **options)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1000, "1k"), (12_345, "12.3k"), (999_600, "1M"), (99_960, "100k"), (2e9, "2G")],
)
def test_numbers_have_three_digits(number, text):
    assert compact(number) == text


@pytest.mark.parametrize("mode", ["Sram_Only", "Dedicated_Sram"])
@pytest.mark.parametrize("network", ["ds_cnn", "mobilenet_v1_025"])
def test_no_line_is_wider_than_the_table_and_no_number_is_cut(profiled, network, mode):
    lines = printed(profiled(network, mode), everything=True)
    assert max(map(len, lines)) <= WIDTH
    cut = [line for line in lines if line.rstrip().endswith("…")]
    assert not cut


def test_the_most_expensive_operations_are_shown_and_the_rest_is_one_line(profiled):
    profile = profiled("ds_cnn", "Dedicated_Sram")
    lines = printed(profile)
    dearest = sorted((operator.added for operator in profile.operators), reverse=True)
    (rest,) = [line for line in lines if "--all" in line]
    assert rest.startswith(f"{len(profile.operators) - SHOWN} more")
    assert f" {sum(dearest[SHOWN:])} " in rest


def test_the_total_is_the_estimate(profiled):
    profile = profiled("resnet8")
    lines = printed(profile)
    total = f"{profile.estimate.total:,}".replace(",", " ")
    assert lines[0].startswith(f"resnet8 on Ethos-U85-256: {total} NPU cycles (estimate)")
    assert any(line.startswith("total") and total in line for line in lines)


def test_a_layer_keeps_its_number_and_the_end_of_its_name(profiled):
    lines = printed(profiled("mobilenet_v1_025", "Dedicated_Sram"))
    assert any(line.startswith("DEPTHWISE 13 …") and "conv_2d " in line for line in lines)


def test_what_bounds_the_network_is_summed_up(profiled):
    profile = profiled("ds_cnn", "Dedicated_Sram")
    (line,) = [line for line in printed(profile) if line.startswith("cycles by bound: ")]
    shares = {name: round(100 * n / profile.estimate.total) for name, n in profile.cycles_by_bound.items()}
    assert sum(profile.cycles_by_bound.values()) == profile.estimate.total
    shown = ", ".join(f"{name} {share}%" for name, share in shares.items() if share)
    assert line == f"cycles by bound: {shown}"
    assert len(shares) > 1
