//! What random calls cannot see of the registers: whether they take something else for NaN, which costs time alone.

use crate::vector::{Float16, Float32, Float64, Kind, Lanes, splat};

/// Holds that one NaN is seen wherever it lies, of either sign, and that nothing else is taken for one.
unsafe fn see<K: Kind, V: Lanes<K>>(infinity: i64) {
    let top = 1i64.rotate_left(8 * K::SIZE as u32 - 1);
    let limit = splat::<K, V>(infinity);
    let least = splat::<K, V>(if K::KEYED { -infinity } else { infinity | top });
    for (sign, nan) in [(0, 0), (0, 1), (top, 0), (top, 1)] {
        for lane in 0..2 * V::BYTES / K::SIZE {
            let mut bytes = [0u8; 128];
            let value = ((infinity + nan) | sign).to_ne_bytes();
            let value = if cfg!(target_endian = "little") { &value[..K::SIZE] } else { &value[8 - K::SIZE..] };
            bytes[lane * K::SIZE..][..K::SIZE].copy_from_slice(value);
            let [one, other] = [0, V::BYTES].map(|at| V::load(bytes[at..].as_ptr()).lanes(V::splat::<8>(0)));
            let mut seen = V::unseen();
            V::see(&mut seen, one, other);
            assert_eq!(V::saw_nan(seen, one.larger(other), limit), nan == 1, "lane {lane}, sign {sign:x}");
            let [one, other] = [one, other].map(|lanes| lanes.numbers(least, limit));
            let mut seen = V::unseen();
            V::see(&mut seen, one, other);
            assert!(!V::saw_nan(seen, one.larger(other), limit), "lane {lane}, sign {sign:x}");
        }
    }
}

unsafe fn see_all<V: Lanes<Float16> + Lanes<Float32> + Lanes<Float64>>() {
    see::<Float16, V>(0x7c00);
    see::<Float16, V>(0x7f80);
    see::<Float32, V>(0x7f80_0000);
    see::<Float64, V>(0x7ff0_0000_0000_0000);
}

#[test]
fn nan_is_seen_wherever_it_lies_and_nothing_else() {
    // SAFETY: each set of instructions is asked for first.
    unsafe {
        see_all::<crate::vector::portable::Part>();
        #[cfg(target_arch = "aarch64")]
        see_all::<std::arch::aarch64::uint8x16_t>();
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            use crate::isa::InstructionSet::{Avx2, Avx512, Sse42};
            if Sse42.is_available() {
                see_all::<std::arch::x86_64::__m128i>();
            }
            if Avx2.is_available() {
                see_all::<std::arch::x86_64::__m256i>();
            }
            if Avx512.is_available() {
                see_all::<std::arch::x86_64::__m512i>();
            }
        }
    }
}
