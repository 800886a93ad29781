"""Every kernel compiles for GPUs that are not there, keeps its registers, and loads 16 bytes at once."""

import os

import pytest

pytest.importorskip("triton", reason="PyTorch is large: .ci/leg gpu installs it")
if os.environ.get("TRITON_INTERPRET") == "1":
    pytest.skip("the interpreter compiles nothing: .ci/leg gpu runs this file without it", allow_module_level=True)

from gpu_compile import TARGETS, cases, compiled, extremes

CASES = dict(cases())
EXTREMES = dict(extremes())
SIZES = {"uint8": 1, "bfloat16": 2, "float32": 4, "int64": 8}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
def test_a_kernel_compiles_without_spills_and_with_wide_loads(name, target):
    kernel, *arguments = CASES[name]
    result = compiled(kernel, target, *arguments)
    assert result.spills == 0
    assert result.registers <= 128
    widest = 16
    if " best of 128 " in name:
        # A thread has four candidates.
        widest = min(16, 4 * SIZES[name.split()[-1]])
    if " groups of " in name or "best groups" in name:
        # Where groups lie is known at run time: their number is read first.
        widest = 8
    assert result.widest in (widest, None)


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
def test_a_kernel_compiles_for_extreme_numbers(name):
    kernel, *arguments = EXTREMES[name]
    assert compiled(kernel, "sm_90", *arguments).spills == 0


def test_the_constants_of_a_kernel_come_last():
    # A compiled kernel is called with all arguments in this order.
    for kernel in {case[0] for case in CASES.values()}:
        constants = [parameter.is_constexpr for parameter in kernel.params]
        assert constants == sorted(constants)
