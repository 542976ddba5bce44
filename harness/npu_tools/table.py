"""A profile as a table that fits 100 columns, and one screen unless all of it is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness.npu_tools.profile import Operator, Profile, utilisation_percent

WIDTH = 100
SHOWN = 24  #: operations of a long network; with what stands around them they fill a screen of 40 lines

_KIND_WIDTH = 9
_TERMS = {"mac": "MAC", "output_stage": "out", "memory": "mem", "issue": "issue"}
"""The terms of the estimate that have a column."""

_FOOT = """\
Every figure is an estimate. cycles: what an operation adds to the total. MAC, out(put stage),
mem(ories), issue (of commands): cycles that each is busy, all at the same time. util: products, of
those the MAC array could make. SRAM, ext.: bytes read and written. bound: what decides the time.\
"""

Row = tuple[str, ...]


def print_profile(profile: Profile, console: Console, *, everything: bool = False) -> None:
    """Print the operations in order: all of them, or the most expensive and the rest as one line."""
    operators = profile.operators
    shown, rest = (operators, []) if everything else _most_expensive(operators)
    outside = any(_external(operator) for operator in operators)
    rows = [_row(operator, profile, outside) for operator in shown]
    if rest:
        figures = _figures(rest, _added(rest), _elapsed(rest), profile, outside)
        rows.append((f"{len(rest)} more", "--all", "", *figures, ""))
    total = profile.estimate.total
    rows.append(("total", "", "", *_figures(operators, total, total, profile, outside), ""))
    console.print(_table(profile, rows, outside))
    shares = {bound: round(100 * added / total) for bound, added in profile.cycles_by_bound.items()}
    parts = ", ".join(f"{bound} {share}%" for bound, share in shares.items() if share)
    console.print(f"cycles by bound: {parts}", style="bold", highlight=False)
    console.print(_FOOT, style="dim", highlight=False, soft_wrap=True)


def compact(number: float) -> str:
    """A number in three digits, with k, M or G where it is longer."""
    scaled, units = number, iter("kMG")
    unit = ""
    while scaled >= 999.5 and unit != "G":
        scaled, unit = scaled / 1000, next(units)
    return f"{scaled:.0f}{unit}" if not unit or scaled >= 99.95 else f"{scaled:.3g}{unit}"


def _most_expensive(operators: Sequence[Operator]) -> tuple[list[Operator], list[Operator]]:
    """The operations that add most and the others, both in the order of the stream."""
    ranking = sorted(range(len(operators)), key=lambda index: -operators[index].added)
    chosen = set(ranking[:SHOWN])
    parts: tuple[list[Operator], list[Operator]] = [], []
    for index, operator in enumerate(operators):
        parts[index not in chosen].append(operator)
    return parts


def _table(profile: Profile, rows: Sequence[Row], outside: bool) -> Table:
    """The rows under their headings, the last one set apart; layers get what width the others leave."""
    model, memory = profile.model, profile.memory
    table = Table(
        title=f"{escape(model.name)} on Ethos-U85-{model.macs}: {_spaced(profile.estimate.total)} NPU cycles "
        f"(estimate)\nmemories: {memory.system_config}, {memory.memory_mode}",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=0,
    )
    figures = ("OFM", "MACs", "cycles", *_TERMS.values(), "util", "SRAM", *("ext.",) * outside)
    headings = ("kind", "layer", *figures, "bound")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in figures else "left", no_wrap=True)
    widths = [max(map(len, column)) + 1 for column in zip(headings, *rows, strict=True)]
    room = WIDTH - sum(widths) + widths[1] - 1
    for row in rows:
        if row is rows[-1]:
            table.add_section()
        table.add_row(escape(row[0]), escape(_shortened(row[1], room)), *row[2:])
    return table


def _row(operator: Operator, profile: Profile, outside: bool) -> Row:
    kind = "+".join(kind.removeprefix("ELEMENTWISE ") for kind in operator.kinds)
    if len(kind) > _KIND_WIDTH:
        kind = f"{kind[: _KIND_WIDTH - 1]}…"
    layer = "" if operator.layer is None else f"{operator.layer.index} {operator.layer.short_name}"
    shape = "" if operator.shape is None else "x".join(map(str, operator.shape))
    return (
        kind,
        layer,
        shape,
        *_figures([operator], operator.added, _elapsed([operator]), profile, outside),
        operator.bound,
    )


def _shortened(layer: str, width: int) -> str:
    """A layer's number and as much of the end of its name as fits: the ends tell layers apart."""
    if len(layer) <= width:
        return layer
    number, _, name = layer.partition(" ")
    return f"{number} …{name[len(layer) - width + 1 :]}"


def _external(operator: Operator) -> int:
    return operator.traffic.external_read + operator.traffic.external_written


def _added(operators: Sequence[Operator]) -> int:
    return sum(operator.added for operator in operators)


def _elapsed(operators: Sequence[Operator]) -> int:
    """The time of each, whether or not something else runs beside it."""
    return sum(operator.end - operator.start for operator in operators)


def _figures(operators: Sequence[Operator], added: int, elapsed: int, profile: Profile, outside: bool) -> Row:
    """The numbers of one line, for operations that add `added` cycles to the total and take `elapsed`."""
    sram = sum(operator.traffic.sram_read + operator.traffic.sram_written for operator in operators)
    external = sum(map(_external, operators))
    return (
        compact(sum(operator.macs for operator in operators)),
        _spaced(added),
        *(compact(sum(operator.terms[term] for operator in operators)) for term in _TERMS),
        f"{utilisation_percent(operators, elapsed, profile.model.macs):.0f}%",
        *map(compact, [sram, external] if outside else [sram]),
    )


def _spaced(number: int) -> str:
    return f"{number:,}".replace(",", " ")
