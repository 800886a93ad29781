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
    # Bytes of the widest load from memory; None where the assembler is not NVIDIA's.
    widest: int | None


def compiled(kernel, target, pointers, numbers, constants):
    """Compile a kernel for arguments as a launch has them: pointers and numbers that 16 divides are known to be so."""
    signature, constant, attributes = {}, {}, {}
    for at, name in enumerate(kernel.arg_names):
        if name in pointers:
            signature[name] = f"*{pointers[name]}"
            attributes[(at,)] = [["tt.divisibility", 16]]
        elif name in constants or numbers[name] == 1:
            signature[name] = "constexpr"
            constant[(at,)] = constants.get(name, 1)
        else:
            signature[name] = "i32" if numbers[name] < 1 << 31 else "i64"
            if numbers[name] % 16 == 0:
                attributes[(at,)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, signature, constant, attributes)
    result = triton.compile(source, target=TARGETS[target], options={"num_warps": 4})
    return _of_nvidia(result) if target.startswith("sm") else _of_amd(result.asm["amdgcn"])


def _of_nvidia(result):
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(result.asm["cubin"])
        file.flush()
        command = [_TOOLS / "cuobjdump", "--dump-resource-usage", file.name]
        usage = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    numbers = {name: int(number) for name, number in re.findall(r"(REG|STACK|LOCAL):(\d+)", usage)}
    loads = re.findall(r"ld\.global\S*?(?:\.v(\d))?\.b(\d+)", result.asm["ptx"])
    widest = max((int(several or 1) * int(bits) // 8 for several, bits in loads), default=0)
    return Compiled(numbers["REG"], numbers["STACK"] + numbers["LOCAL"], widest)


def _of_amd(assembly):
    def number(name):
        return int(re.search(rf"\.{name}:\s+(\d+)", assembly)[1])

    return Compiled(number("vgpr_count"), number("vgpr_spill_count") + number("private_segment_fixed_size"), None)


def _reduction(element, **changes):
    """Arguments of `reduce` for rows of 4,096 elements, or as `changes` says."""
    pointer, kind, infinity = ELEMENTS[element]
    wide = "i64" if pointer == "i64" else "i32"
    pointers = {"x": pointer, "where": "i8", "keys": wide, "places": "i64", "indices": "i64", "values": pointer}
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
    constants = {"KIND": kind, "INFINITY": infinity, "LARGEST": True, "LAST": False, "OMIT": False, "MASKED": False}
    constants |= {"VALUES": True, "PARTS": False, "BY_ROWS": True, "KEPT": 1, "TILE": changes.pop("tile", 1024)}
    numbers = rows if changes.get("BY_ROWS", True) else columns
    return kernels.reduce, pointers, numbers, constants | changes


def cases():
    """The kernels with arguments of the released plans, by what they do."""
    tiles = {"uint8": 4096, "bfloat16": 4096, "float32": 2048, "int64": 1024}
    for element, tile in tiles.items():
        yield f"rows of {element}", _reduction(element, tile=tile)
        kept = 128 * 16 // {"uint8": 1, "bfloat16": 2, "float32": 4, "int64": 8}[element]
        yield f"columns of {element}", _reduction(element, BY_ROWS=False, KEPT=kept, tile=tile // kept)
    yield "parts of a row of float32", _reduction("float32", tile=2048, PARTS=True)
    yield "rows of float32, masked", _reduction("float32", tile=2048, MASKED=True)
    yield "rows of float32, without NaN", _reduction("float32", tile=2048, OMIT=True)
    yield "rows of float32, the last", _reduction("float32", tile=2048, LAST=True)
    _, pointers, numbers, constants = _reduction("float32")
    pointers = {name: each for name, each in pointers.items() if name != "where"}
    constants = {"LAST": False, "VALUES": True, "KEPT": 4, "TILE": 512}
    yield "the best of 512 parts", (kernels.finish, pointers, {**numbers, "parts": 512}, constants)
    yield from _other_cases()


def _other_cases():
    for element in ELEMENTS:
        pointer, kind, infinity = ELEMENTS[element]
        end = {"KIND": kind, "INFINITY": infinity, "LARGEST": True, "NAN": 1}
        numbers = {"inner": 65536, "x_outer": 65536, "x_inner": 1, "y_outer": 65536, "y_inner": 1}
        pointers = {"x": pointer, "y": pointer, "result": pointer}
        tile = {"i8": 2048, "i16": 2048, "i32": 1024, "i64": 512}[pointer]
        yield f"maximum of {element}", (kernels.pair, pointers, numbers, {**end, "TILE": tile})
    # No key of 64 bits is packed.
    for element in list(ELEMENTS)[:3]:
        pointer, kind, infinity = ELEMENTS[element]
        end = {"KIND": kind, "INFINITY": infinity, "LARGEST": True, "NAN": 1, "MASKED": False}
        width = {"i8": 2, "i16": 2, "i32": 4}[pointer]
        pointers = {"x": pointer, "where": "i8", "candidates": "i64", "indices": "i64", "values": pointer}
        pointers |= {"lanes": "i64", "best": "i64"}
        numbers = {"rows": 4096, "n": 128, "k": 8, "x_row": 128, "w_row": 128, "length": 131072, "parts": 7}
        short = {**end, "MERGES": False, "KEPT": 8, "TILE": 128, "K": 8}
        yield f"8 best of 128 {element}", _only(kernels.short_rows, pointers, numbers, short)
        long = {**numbers, "n": 917504, "k": 50, "x_row": 917504, "w_row": 917504}
        lanes = {**end, "LANES": 1024, "TILE": 2048 // width}
        yield f"lanes of {element}", _only(kernels.delegates, pointers, long, lanes)
        chosen = {**end, "FINAL": True, "LANES": 1024, "STEPS": 32, "K": 64}
        yield f"50 best of 1,024 lanes of {element}", _only(kernels.chosen_lanes, pointers, long, chosen)
    merges = {**end, "MERGES": True, "KEPT": 1, "TILE": 2048, "K": 64}
    yield "50 best of 2,048 candidates", _only(kernels.short_rows, pointers, {**long, "n": 2048}, merges)
    pointers = {"x": "i64", "result": "i64"}
    keys = {"KIND": "float", "INFINITY": 0x7FF0000000000000, "LARGEST": False, "NAN": 1, "TILE": 512}
    yield "keys of float64", (kernels.keys, pointers, {"n": 65536, "x_row": 65536}, keys)


def extremes():
    """The kernels with numbers that are all 1, which Triton compiles into a kernel, and with long ones."""
    for name, (kernel, pointers, numbers, constants) in cases():
        yield f"{name}: 1", (kernel, pointers, dict.fromkeys(numbers, 1), constants)
    for name, (kernel, pointers, numbers, constants) in cases():
        # More than 31 bits count the elements, and a part of a row has fewer.
        if kernel in (kernels.reduce, kernels.finish, kernels.pair, kernels.keys):
            long = {key: number if key in ("length", "parts") else 1 << 33 for key, number in numbers.items()}
            if constants.get("PARTS", True):
                yield f"{name}: long", (kernel, pointers, long, constants)


def _only(kernel, pointers, numbers, constants):
    return kernel, {name: each for name, each in pointers.items() if name in kernel.arg_names}, numbers, constants


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
