"""The page about TOSA operators says what the corpus has, and the corpus has all operators."""

from __future__ import annotations

from . import document
from .corpus import read_corpus

OPERATORS = """
    abs add argmax arithmetic_right_shift avg_pool2d bitwise_and bitwise_not bitwise_or bitwise_xor cast clamp
    clz concat const conv2d conv3d depthwise_conv2d equal gather greater greater_equal identity intdiv
    logical_and logical_left_shift logical_not logical_or logical_right_shift logical_xor matmul max_pool2d
    maximum minimum mul negate pad reduce_all reduce_any reduce_max reduce_min reduce_sum rescale reshape
    resize reverse scatter select slice sub table tile transpose transpose_conv2d
"""
"""TOSA 1.0's that compute with integers or bools, but for control flow, variables and shapes."""


def test_every_operator_has_a_case():
    assert {case.operator for case in read_corpus().values()} == set(OPERATORS.split())


def test_types_are_those_of_the_table():
    assert {case.dtype for case in read_corpus().values()} == set(document.TYPES)


def test_document_is_current():
    assert document.FILE.read_text() == document.render(), f"run {document.COMMAND}"
