"""Compiles the kernels for GPUs that are not there, and prints what the compilers say about each.

python tests/support/gpu_compile.py    prints the table of docs/gpu.md
"""

import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from extremum.gpu import kernels

TARGETS = {
    "sm_80": GPUTarget("cuda", 80, 32),
    "sm_90": GPUTarget("cuda", 90, 32),
    "sm_100": GPUTarget("cuda", 100, 32),
    "gfx942": GPUTarget("hip", "gfx942", 64),
}
_TOOLS = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
# The type of a pointer to the bits of an element, how its keys are made, and the bits of infinity.
ELEMENTS = {
    "uint8": ("i8", "unsigned", 0),
    "bfloat16": ("i16", "float", 0x7F80),
    "float32": ("i32", "float", 0x7F800000),
    "int64": ("i64", "signed", 0),
}


class Compiled(NamedTuple):
    """What a compiler says about a kernel."""

    registers: int
    spills: int
    # Bytes of the widest load from memory, or store if there is no element to load; None where the assembler is AMD's.
    widest: int | None


def compiled(kernel, target, pointers, numbers, constants, warps=4):
    """Compile a kernel for arguments as a launch has them: pointers and numbers that 16 divides are known to be so."""
    constant, attributes = {}, {}

    def type_of(name, value, *place):
        """The type of an argument, or of an entry of a tuple; what is compiled into the kernel is noted."""
        if isinstance(value, tuple):
            return tuple(type_of(name, each, *place, at) for at, each in enumerate(value))
        plain = kernel.params[place[0]].do_not_specialize
        if value is None or (value == 1 and not plain):
            constant[place] = value
            return "constexpr"
        if isinstance(value, str) or (value % 16 == 0 and not plain):
            attributes[place] = [["tt.divisibility", 16]]
        if isinstance(value, str):
            return f"*{value}"
        return "i32" if value < 1 << 31 else "i64"

    signature = {}
    for at, name in enumerate(kernel.arg_names):
        if name in constants:
            signature[name] = "constexpr"
            constant[(at,)] = constants[name]
        else:
            # Memory that a kernel does not use is None.
            signature[name] = type_of(name, numbers[name] if name in numbers else pointers.get(name), at)
    source = ASTSource(kernel, signature, constant, attributes)
    result = triton.compile(source, target=TARGETS[target], options={"num_warps": warps})
    access = "st" if kernel is kernels.ones else "ld"
    return _of_nvidia(result, access) if target.startswith("sm") else _of_amd(result.asm["amdgcn"])


def _of_nvidia(result, access):
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(result.asm["cubin"])
        file.flush()
        command = [_TOOLS / "cuobjdump", "--dump-resource-usage", file.name]
        usage = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    numbers = {name: int(number) for name, number in re.findall(r"(REG|STACK|LOCAL):(\d+)", usage)}
    loads = re.findall(access + r"\.global\S*?(?:\.v(\d))?\.b(\d+)", result.asm["ptx"])
    widest = max((int(several or 1) * int(bits) // 8 for several, bits in loads), default=0)
    return Compiled(numbers["REG"], numbers["STACK"] + numbers["LOCAL"], widest)


def _of_amd(assembly):
    def number(name):
        return int(re.search(rf"\.{name}:\s+(\d+)", assembly)[1])

    return Compiled(number("vgpr_count"), number("vgpr_spill_count") + number("private_segment_fixed_size"), None)


def _reduction(element, warps=4, **changes):
    """Arguments of `reduce` for rows of 4,096 elements, or as `changes` says."""
    pointer, kind, infinity = ELEMENTS[element]
    wide = "i64" if pointer == "i64" else "i32"
    pointers = {"x": pointer, "indices": "i64", "values": pointer}
    if changes.get("MASKED"):
        pointers["where"] = "i8"
    if changes.get("PARTS"):
        pointers |= {"keys": wide, "places": "i64", "values": None}
    rows = {
        "outer": 4096,
        "inner": 1,
        "n": 4096,
        "total": 4096,
        "length": 4096,
        "slot_outer": 1,
        "slot_inner": 1,
        "x_outer": 4096,
        "x_inner": 0,
        "x_n": 1,
        "w_outer": 4096,
        "w_inner": 0,
        "w_n": 1,
    }
    columns = {
        "outer": 64,
        "inner": 512,
        "n": 128,
        "total": 32768,
        "length": 128,
        "slot_outer": 512,
        "slot_inner": 1,
        "x_outer": 65536,
        "x_inner": 1,
        "x_n": 512,
        "w_outer": 65536,
        "w_inner": 1,
        "w_n": 512,
    }
    constants = {"KIND": kind, "INFINITY": infinity, "ENDS": (True,), "LAST": False, "NAN": 1, "MASKED": False}
    constants |= {"VALUES": True, "PARTS": False, "BY_ROWS": True, "KEPT": 1, "TILE": 128 * _wide(pointer), "UNROLL": 4}
    numbers = rows if changes.get("BY_ROWS", True) else columns
    return kernels.reduce, pointers, numbers, constants | changes, warps


def _wide(pointer):
    """Elements of 16 bytes."""
    return 128 // int(pointer[1:])


def cases():
    """The kernels with arguments of the released plans, by what they do."""
    for element, (pointer, *_) in ELEMENTS.items():
        wide = _wide(pointer)
        yield f"rows of {element}", _reduction(element)
        yield f"short rows of {element}", _reduction(element, 1, KEPT=16, TILE=2 * wide)
        yield f"columns of {element}", _reduction(element, 1, BY_ROWS=False, KEPT=32 * wide, TILE=1)
    yield "parts of a row of float32", _reduction("float32", PARTS=True)
    yield "rows of float32, masked", _reduction("float32", MASKED=True)
    yield "rows of float32, without NaN", _reduction("float32", NAN=0)
    for element in ELEMENTS:
        yield f"both ends of rows of {element}", _reduction(element, ENDS=(False, True))
    yield "groups of 32 float32", _reduction("float32", 1, KEPT=32, TILE=4)
    yield "rows of float32, the last", _reduction("float32", LAST=True)
    _, pointers, numbers, *_ = _reduction("float32")
    pointers |= {"keys": "i32", "places": "i64"}
    constants = {"LAST": False, "VALUES": True, "KEPT": 2, "TILE": 512}
    yield "the best of 512 parts", (kernels.finish, pointers, {**numbers, "parts": 512}, constants)
    yield from _other_cases()


def _other_cases():
    for element in ELEMENTS:
        pointer, kind, infinity = ELEMENTS[element]
        end = {"KIND": kind, "INFINITY": infinity, "LARGEST": True, "NAN": 1}
        tile = {"i8": 2048, "i16": 2048, "i32": 1024, "i64": 512}[pointer]
        several = {**end, "MASKED": False, "KEPT": 1, "TILE": tile}
        yield f"maximum of two of {element}", _elementwise(pointer, 2, several)
        rows = {**_reduction(element)[2], "inner": 1}
        pointers = {"indices": "i64", "result": pointer}
        marked = {"ONE": 1, "BY_ROWS": True, "KEPT": 1, "TILE": 2 * tile}
        yield f"ones of rows of {element}", (kernels.ones, pointers, rows, marked)
    yield "maximum of four of int64, masked", _elementwise(pointer, 4, {**several, "MASKED": True})
    for element in ELEMENTS:
        pointer, kind, infinity = ELEMENTS[element]
        end = {"KIND": kind, "INFINITY": infinity, "LARGEST": True, "NAN": 1, "MASKED": False}
        pointers = {"x": pointer, "indices": "i64", "values": pointer}
        numbers = {"rows": 4096, "count": 128, "groups": 128, "k": 8, "x_row": 128, "w_row": 128}
        short = {**end, "SIZE": 1, "LEADS": False, "KEPT": 1, "TILE": 128, "K": 8}
        yield f"8 best of 128 {element}", (kernels.select, pointers, numbers, short, 1)
        long = {"rows": 32, "count": 800, "groups": 8000, "k": 50, "x_row": 128000, "w_row": 128000}
        best = {**end, "SIZE": 16, "LEADS": False, "KEPT": 1, "TILE": 1024, "K": 64}
        yield f"50 best of 50 groups of {element}", (kernels.select, {**pointers, "leaders": "i64"}, long, best, 8)
    most = {**long, "count": 1600}
    yield (
        "200 best of 200 groups of int64",
        (
            *(kernels.select, {**pointers, "leaders": "i64"}, {**most, "k": 200}),
            *({**best, "SIZE": 8, "TILE": 2048, "K": 256}, 16),
        ),
    )
    leads = {**best, "LEADS": True}
    yield "50 best groups of int64", (kernels.select, {**pointers, "leaders": "i64"}, long, leads, 8)
    pointers = {"x": "i64", "result": "i64"}
    keys = {"KIND": "float", "INFINITY": 0x7FF0000000000000, "LARGEST": False, "NAN": 1, "TILE": 512}
    yield "keys of float64", (kernels.keys, pointers, {"n": 65536, "x_row": 65536}, keys)


def _elementwise(pointer, operands, constants):
    """Arguments of `extremum` for operands of one shape."""
    pointers = {"operands": (pointer,) * operands, "result": pointer}
    if constants["MASKED"]:
        pointers["where"] = "i8"
    numbers = {"outer": 1, "inner": 65536, "x_outer": (0,) * operands, "x_inner": (1,) * operands}
    return kernels.extremum, pointers, {**numbers, "w_outer": 0, "w_inner": 1}, constants


def extremes():
    """The kernels with numbers that are all 1, which Triton compiles into a kernel, and with long ones."""
    for name, (kernel, pointers, numbers, constants, *warps) in cases():
        ones = {key: (1,) * len(each) if isinstance(each, tuple) else 1 for key, each in numbers.items()}
        yield f"{name}: 1", (kernel, pointers, ones, constants, *warps)
    for name, (kernel, pointers, numbers, constants, *warps) in cases():
        # A program sees fewer than 31 bits count.
        long = {key: number if key in ("length", "parts", "count", "k") else 1 << 33 for key, number in numbers.items()}
        for key in ("x_outer", "x_inner"):
            if isinstance(numbers.get(key), tuple):
                long[key] = (1 << 33,) * len(numbers[key])
        if constants.get("PARTS", True):
            yield f"{name}: long", (kernel, pointers, long, constants, *warps)


def main():
    """Print a table of all kernels and targets."""
    print("| kernel |", " | ".join(TARGETS), "|")
    print("| --- |" + " --- |" * len(TARGETS))
    for name, case in cases():
        cells = []
        for target in TARGETS:
            registers, spills, widest = compiled(case[0], target, *case[1:])
            load = "" if widest is None else f", {widest}"
            cells.append(f"{registers}, {spills}{load}")
        print(f"| {name} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
