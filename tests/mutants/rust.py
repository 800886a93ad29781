"""Wrong kernels: orders, tails, ties, combinations, layouts, threads."""

from mutants import Mutant

MUTANTS = (
    # The order of the elements.
    Mutant(
        "NaN is a large number, and a small one where its sign is set",
        "native/kernels/src/element/floats.rs",
        "if magnitude > <$type>::INFINITY.to_bits() as $key { extreme } else { key }",
        "let _ = extreme;\n                key",
        ["test_laws_of_order.py", "test_reference.py", "test_argmax.py"],
    ),
    Mutant(
        "NaN is not noticed while numbers are compared",
        "native/kernels/src/element/floats.rs",
        "self | (O::NAN_WINS & (lane != lane))",
        "self",
        ["test_kernels.py"],
    ),
    Mutant(
        "of two zeros the one met last is the maximum",
        "native/kernels/src/element/floats.rs",
        "let picked = if a == b { equal } else { picked };",
        "let _ = equal;",
        ["test_laws_of_order.py", "test_maximum.py", "test_kernels.py"],
    ),
    Mutant(
        "uint16 is compared as int16",
        "native/kernels/src/element/mod.rs",
        "type $E = u16;",
        "type $E = i16;",
        ["test_laws_of_order.py", "test_kernels.py"],
    ),
    Mutant(
        "negative 16-bit floats are in the order of their bits",
        "native/kernels/src/element/float16_bits.rs",
        "Float16Lane(if bits < 0 { i16::MIN.wrapping_sub(bits) } else { bits })",
        "Float16Lane(bits)",
        ["test_laws_of_order.py", "test_kernels.py"],
    ),
    Mutant(
        "infinity is NaN among 16-bit floats",
        "native/kernels/src/element/float16_bits.rs",
        "if self.0.unsigned_abs() > INFINITY as u16 { extreme } else { self.0 }",
        "if self.0.unsigned_abs() >= INFINITY as u16 { extreme } else { self.0 }",
        ["test_laws_of_order.py", "test_kernels.py"],
    ),
    # Ties, and what joins blocks.
    Mutant(
        "the first of equal blocks wins where the last is wanted",
        "native/kernels/src/kernels/combine.rs",
        "let earlier = if self.last { index > place } else { index < place };",
        "let earlier = index < place;",
        ["test_kernels.py"],
    ),
    Mutant(
        "of equal blocks the one that came first wins",
        "native/kernels/src/kernels/combine.rs",
        "let wins = O::better(key, champion) || (key == champion && earlier);",
        "let wins = O::better(key, champion) || (false && earlier);",
        ["test_kernels.py"],
    ),
    Mutant(
        "the last of equals wins in small arrays where the first is wanted",
        "native/kernels/src/operations/small.rs",
        "O::better(key, champion) || key == champion && earlier",
        "O::better(key, champion) || key == champion",
        ["test_argmax.py", "test_kernels.py"],
    ),
    Mutant(
        "a broadcast axis gives its first place where the last is wanted",
        "native/kernels/src/layout/reduction.rs",
        "self.origin.index += if last { (axis.len as i64 - 1) * index } else { 0 };",
        "let _ = (last, index);",
        ["test_layouts.py", "test_kernels.py"],
    ),
    # Edges.
    Mutant(
        "the last stretch of a row is left out",
        "native/kernels/src/kernels/sweep.rs",
        "        at = at.min(len - lanes);\n        // SAFETY: each pass",
        "        if at > len - lanes {\n            break;\n        }\n        // SAFETY: each pass",
        ["test_kernels.py"],
    ),
    Mutant(
        "the last element of a short row is left out",
        "native/kernels/src/kernels/sweep.rs",
        "let key = (0..len).map(|at| load::<E, O>(data, at).key::<O>());",
        "let key = (0..len.max(2) - 1).map(|at| load::<E, O>(data, at).key::<O>());",
        ["test_kernels.py"],
    ),
    Mutant(
        "columns forget in which pass a row was",
        "native/kernels/src/kernels/descent.rs",
        "at = if better { <LaneOf<S> as Lane>::Index::new(row + step) } else { at };",
        "at = if better { <LaneOf<S> as Lane>::Index::new(step) } else { at };",
        ["test_kernels.py"],
    ),
    Mutant(
        "lanes behind the end of a row are masked one too few",
        "native/kernels/src/kernels/batches/chunked.rs",
        "let mask = if CHUNKS == 1 { u64::MAX >> (64 - self.len) } else { all };",
        "let mask = if CHUNKS == 1 { u64::MAX >> (65 - self.len) } else { all };",
        ["test_kernels.py"],
    ),
    Mutant(
        "what a mask leaves out takes part where it lies",
        "native/kernels/src/kernels/source.rs",
        "if *self.mask.add(at) != 0 { lane } else { worst::<O, _>() }",
        "if !self.mask.is_null() { lane } else { worst::<O, _>() }",
        ["test_values.py"],
    ),
    Mutant(
        "the sign of a zero is taken from its lane",
        "native/kernels/src/element/floats.rs",
        "let told = lane != 0 && lane.unsigned_abs()",
        "let told = lane.unsigned_abs()",
        ["test_values.py"],
    ),
    Mutant(
        "what an output held before is not cleared",
        "native/kernels/src/operations/onehot.rs",
        "unsafe { line.write_bytes(0, inner * size) };",
        "unsafe { line.write_bytes(0, (inner - 1) * size) };",
        ["test_out.py", "test_hardmax.py", "test_kernels.py"],
    ),
    # Layouts and threads.
    Mutant(
        "dimensions are joined where an operand is broadcast",
        "native/kernels/src/layout/elementwise.rs",
        "&& self.operands.iter().all(|operand| self.of(operand) == inner.of(operand) * len)",
        "&& self.operands.iter().any(|operand| self.of(operand) == inner.of(operand) * len)",
        ["test_maximum.py", "test_kernels.py"],
    ),
    Mutant(
        "a reversed axis counts from its other end",
        "native/kernels/src/layout/reduction.rs",
        "index: -self.index }",
        "index: self.index }",
        ["test_layouts.py"],
    ),
    Mutant(
        "what is left over after equal shares is nobody's",
        "native/kernels/src/threads/mod.rs",
        "total * part / parts..total * (part + 1) / parts",
        "total / parts * part..total / parts * (part + 1)",
        ["test_threads.py", "test_kernels.py"],
    ),
)
