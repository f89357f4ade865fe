//! Arrays out: read-only NumPy views of memory that a noun owns.
#![allow(unsafe_code)] // The one file that lends Rust memory to NumPy.

use numpy::ndarray::ArrayView1;
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::{PyClass, pyclass::boolean_struct::True};

/// A read-only view of memory that a frozen object owns; the array keeps the object alive.
///
/// The signature carries the proof: `data` can only borrow from the object, which nobody moves or changes.
pub fn view<'py, C, T>(
    owner: &Bound<'py, C>,
    data: impl for<'a> FnOnce(&'a C) -> &'a [T],
) -> Bound<'py, PyArray1<T>>
where
    C: PyClass<Frozen = True> + Sync,
    T: Element,
{
    let slice = data(owner.get());
    // SAFETY: `slice` lives as long as the object, which the array holds; it is made read-only before
    // anybody can see it.
    let array = unsafe { PyArray1::borrow_from_array(&ArrayView1::from(slice), owner.clone().into_any()) };
    array.readwrite().make_nonwriteable();
    array
}

/// The same memory, signed: SciPy's index arrays are signed. Endpoints are capped far below the sign bit
/// (`Traffic::from_triples`).
pub fn as_i32(data: &[u32]) -> &[i32] {
    // SAFETY: equal size and alignment, every bit pattern is valid for both.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), data.len()) }
}

/// The same memory, signed.
pub fn as_i64(data: &[u64]) -> &[i64] {
    // SAFETY: equal size and alignment, every bit pattern is valid for both.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), data.len()) }
}

/// An array of its own.
pub fn array<'py, T: Element>(py: Python<'py>, values: impl Iterator<Item = T>) -> Bound<'py, PyArray1<T>> {
    PyArray1::from_vec(py, values.collect())
}
