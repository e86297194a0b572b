//! What C says of the constants, sizes and offsets of the headers, in the order of build.rs.

extern "C" {
    static ours: [i64; 1];
    static ours_count: i64;
}

/// One number for each fact.
pub fn of_c() -> &'static [i64] {
    unsafe { std::slice::from_raw_parts(ours.as_ptr(), ours_count as usize) }
}
