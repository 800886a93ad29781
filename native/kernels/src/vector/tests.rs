//! Tests of what random calls rarely show: an element that only one lane of a group has, and a number that is mistaken for NaN,
//! which only costs time.

use crate::vector::{Float16, Float32, Float64, Int8, Kind, Lanes, MOST_GROUPS, Mask, fold_groups, splat};

/// Checks that an element is found wherever it lies in a group of registers.
unsafe fn find<K: Kind, V: Lanes<K>>() {
    for (count, lane) in (1..=V::GROUP).flat_map(|count| (0..count * V::LANES).map(move |lane| (count, lane))) {
        let mut bytes = [0u8; 512];
        bytes[lane * K::SIZE..][..K::SIZE].fill(0x3f);
        let registers = bytes.chunks_exact(V::BYTES).take(count);
        let registers: Vec<V> = registers.map(|bytes| V::load_raw(bytes.as_ptr()).lanes()).collect();
        let hits = V::eq_bits(&registers, splat::<K, V>(0x3f3f_3f3f_3f3f_3f3f));
        assert_eq!(hits, u64::MAX >> (64 - V::BITS) << (lane * V::BITS), "lane {lane} of {count} registers");
    }
}

/// Checks that a NaN of either sign is seen wherever it lies, and that no number is mistaken for NaN.
unsafe fn note_nan<K: Kind, V: Lanes<K>>(infinity: i64) {
    let top = 1i64.rotate_left(8 * K::SIZE as u32 - 1);
    let limit = splat::<K, V>(infinity);
    let least = splat::<K, V>(if K::KEYS { -infinity } else { infinity | top });
    for (sign, nan) in [(0, 0), (0, 1), (top, 0), (top, 1)] {
        for lane in 0..2 * V::BYTES / K::SIZE {
            let mut bytes = [0u8; 128];
            let value = ((infinity + nan) | sign).to_ne_bytes();
            let value = if cfg!(target_endian = "little") { &value[..K::SIZE] } else { &value[8 - K::SIZE..] };
            bytes[lane * K::SIZE..][..K::SIZE].copy_from_slice(value);
            let [one, other] = [0, V::BYTES].map(|at| V::load_raw(bytes[at..].as_ptr()));
            let mut nans = V::no_nan();
            V::note_nan(&mut nans, one, other);
            let lanes = [one.lanes(), other.lanes()];
            assert_eq!(V::has_nan(nans, lanes[0].max(lanes[1]), limit), nan == 1, "lane {lane}, sign {sign:x}");
            for lanes in lanes.map(|lanes| lanes.replace_nan(least, limit)) {
                let beyond = lanes.gt(limit).or(least.gt(lanes)).or(lanes.unordered(lanes));
                assert!(!beyond.any(), "lane {lane}, sign {sign:x}");
            }
        }
    }
}

/// Checks that each lane is that of the register under its byte of the mask.
unsafe fn select_by_bytes<V: Lanes<Int8>, const SIZE: usize>() {
    let [bytes, others]: [[u8; 64]; 2] = [0, 100].map(|first| std::array::from_fn(|at| first + at as u8));
    // The mask ends where its last byte is.
    let mask: Vec<u8> = (0..V::BYTES / SIZE).map(|lane| [0, 1, 0, 255, 128, 0, 0][lane % 7]).collect();
    let lanes = V::load_raw(bytes.as_ptr()).select_by_bytes::<SIZE>(mask.as_ptr(), V::load_raw(others.as_ptr()));
    let mut result = [0u8; 64];
    lanes.store_raw(result.as_mut_ptr());
    for at in 0..V::BYTES {
        let expected = if mask[at / SIZE] == 0 { others[at] } else { bytes[at] };
        assert_eq!(result[at], expected, "byte {at} of lanes of {SIZE}");
    }
}

/// Checks that a pair is the larger whose element is, as a signed number, or whose rank is where the elements are equal.
unsafe fn max_pairs<V: Lanes<Int8>, const SIZE: usize>() {
    // The bytes of a number in this machine's order, and a register of pairs of a rank and an element.
    let bytes = |number: i16| -> Vec<u8> {
        let bytes = number.to_ne_bytes();
        if SIZE == 2 { bytes.to_vec() } else { (number as i8).to_ne_bytes().to_vec() }
    };
    let pairs = |rank: i16, element: i16| [bytes(rank), bytes(element)].concat().repeat(V::BYTES / SIZE / 2);
    let (top, least) = if SIZE == 2 { (i16::MAX, i16::MIN) } else { (i8::MAX.into(), i8::MIN.into()) };
    let ascending = [(-1, least), (0, -2), (3, -2), (-1, -2), (1, 0), (0, 1), (least, 1), (0, top)];
    for (at, smaller) in ascending.iter().enumerate() {
        for larger in &ascending[at..] {
            let [small, large] = [smaller, larger].map(|&(rank, element)| pairs(rank, element));
            let [one, other] = [&small, &large].map(|pairs| V::load_raw(pairs.as_ptr()));
            for result in [one.max_pairs::<SIZE>(other), other.max_pairs::<SIZE>(one)] {
                let mut bytes = vec![0u8; V::BYTES];
                result.store_raw(bytes.as_mut_ptr());
                assert_eq!(bytes, large, "{smaller:?}, {larger:?}");
            }
        }
    }
}

/// Checks that the largest lane of each register is found wherever it lies, and that they follow one another.
unsafe fn fold<K: Kind, V: Lanes<K>>() {
    let word = K::SIZE.max(4);
    for lane in 0..V::LANES {
        let register = |number: usize| {
            let mut bytes = [0u8; 64];
            bytes[lane * K::SIZE..][..K::SIZE].fill(number as u8 + 1);
            V::load_raw(bytes.as_ptr())
        };
        let groups: [[V; 4]; MOST_GROUPS] =
            std::array::from_fn(|group| std::array::from_fn(|at| register(4 * group + at)));
        let mut bytes = [0u8; 128];
        for (at, folded) in fold_groups::<K, V>(groups).into_iter().enumerate() {
            folded.store_raw(bytes[at * V::BYTES..].as_mut_ptr());
        }
        for row in 0..V::BYTES / 4 {
            let found = &bytes[row * word..][..word];
            assert!(found.iter().all(|&byte| usize::from(byte) == row + 1), "lane {lane} of register {row}: {found:?}");
        }
    }
}

unsafe fn all<V: Lanes<Int8> + Lanes<Float16> + Lanes<Float32> + Lanes<Float64>>() {
    select_by_bytes::<V, 1>();
    select_by_bytes::<V, 2>();
    select_by_bytes::<V, 4>();
    select_by_bytes::<V, 8>();
    max_pairs::<V, 1>();
    max_pairs::<V, 2>();
    find::<Int8, V>();
    find::<Float16, V>();
    find::<Float32, V>();
    find::<Float64, V>();
    fold::<Int8, V>();
    fold::<Float16, V>();
    fold::<Float32, V>();
    fold::<Float64, V>();
    note_nan::<Float16, V>(0x7c00);
    note_nan::<Float16, V>(0x7f80);
    note_nan::<Float32, V>(0x7f80_0000);
    note_nan::<Float64, V>(0x7ff0_0000_0000_0000);
}

#[test]
fn what_lies_anywhere_is_found_and_nothing_else() {
    // SAFETY: each instruction set is detected first.
    unsafe {
        all::<crate::vector::portable::Part>();
        #[cfg(target_arch = "aarch64")]
        all::<std::arch::aarch64::uint8x16_t>();
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            use crate::isa::{avx2, avx512, sse42};
            if sse42::is_available() {
                all::<std::arch::x86_64::__m128i>();
            }
            if avx2::is_available() {
                all::<std::arch::x86_64::__m256i>();
            }
            if avx512::is_available() {
                all::<std::arch::x86_64::__m512i>();
            }
        }
    }
}
