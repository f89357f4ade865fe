//! Arrays out: read-only NumPy views of memory that a noun owns.
#![allow(unsafe_code)] // The one file that lends Rust memory to NumPy.

use numpy::ndarray::ArrayView1;
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;

/// A read-only view of `data`, kept alive by `owner`.
///
/// The caller promises that `data` lives, unmoved and unchanged, as long as `owner` does: true for the
/// arrays of frozen classes over `Arc`.
pub fn view<'py, T: Element>(owner: Bound<'py, PyAny>, data: &[T]) -> Bound<'py, PyArray1<T>> {
    // SAFETY: see the promise above; the view is made read-only before anybody can see it.
    let array = unsafe { PyArray1::borrow_from_array(&ArrayView1::from(data), owner) };
    array.readwrite().make_nonwriteable();
    array
}

/// The same memory, signed: SciPy's index arrays are signed, ours never reach the sign bit.
pub fn as_i32(data: &[u32]) -> &[i32] {
    // SAFETY: equal size and alignment, every bit pattern is valid for both.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), data.len()) }
}

/// The same memory, signed.
pub fn as_i64(data: &[u64]) -> &[i64] {
    // SAFETY: equal size and alignment, every bit pattern is valid for both.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), data.len()) }
}
