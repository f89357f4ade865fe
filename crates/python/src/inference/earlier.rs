//! Earlier answers of inference, as plain Python values: what `netloom infer --remember` keeps in files.

use netloom_infer::{Earlier, Grid, Order, Participants};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A memory as a dictionary.
pub fn to_dict<'py>(py: Python<'py>, answer: &Earlier, job: &Participants) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("ranks", job.ranks())?;
    dict.set_item("sides", answer.grid.sides)?;
    dict.set_item("order", order_name(answer.grid.order))?;
    dict.set_item("estimated_error_percent", 100.0 * answer.pair_error)?;
    dict.set_item("estimated_leaf_error_percent", 100.0 * answer.leaf_error)?;
    let offsets: Vec<(i64, i64, i64, f64)> =
        answer.offsets.iter().map(|&([x, y, z], bytes)| (x, y, z, bytes)).collect();
    dict.set_item("offsets", offsets)?;
    dict.set_item("pairs", &answer.pairs)?;
    Ok(dict)
}

/// A memory of a job, or why it is none.
pub fn from_dict(dict: &Bound<'_, PyDict>, job: &Participants) -> Result<Earlier, String> {
    let ranks: usize = field(dict, "ranks", "a number")?;
    if ranks != job.ranks() {
        return Err(format!("it was of {ranks} ranks, not of {}", job.ranks()));
    }
    let sides = field(dict, "sides", "three numbers")?;
    let order: String = field(dict, "order", "rows or morton")?;
    let Some(order) =
        [Order::Rows, Order::Morton, Order::Hilbert].into_iter().find(|&o| order_name(o) == order)
    else {
        return Err(format!("order: expected rows or morton, found \"{order}\""));
    };
    // Rows are lists where they come from a file.
    let offsets: Vec<[f64; 4]> = field(dict, "offsets", "rows of three whole numbers and bytes")?;
    let pairs: Vec<[f64; 3]> = field(dict, "pairs", "rows of two ranks and bytes")?;
    let whole = |value: f64| (value.fract() == 0.0 && value.abs() < 2f64.powi(31)).then_some(value as i64);
    let part = |key| field::<f64>(dict, key, "a number").map(|percent| percent / 100.0);
    let (pair_error, leaf_error) = (part("estimated_error_percent")?, part("estimated_leaf_error_percent")?);
    let offset = |[x, y, z, bytes]: [f64; 4]| Some(([whole(x)?, whole(y)?, whole(z)?], bytes));
    let offsets = offsets.into_iter().map(offset).collect::<Option<_>>();
    let offsets = offsets.ok_or("offsets: expected rows of three whole numbers and bytes")?;
    let rank = |value: f64| u32::try_from(whole(value)?).ok();
    let pair = |[from, to, bytes]: [f64; 3]| Some((rank(from)?, rank(to)?, bytes));
    let pairs = pairs.into_iter().map(pair).collect::<Option<_>>();
    let pairs = pairs.ok_or("pairs: expected rows of two ranks and bytes")?;
    let answer = Earlier { grid: Grid { sides, order }, offsets, pairs, pair_error, leaf_error };
    answer.check(ranks as u32)?;
    Ok(answer)
}

fn field<'py, T: for<'a> FromPyObject<'a, 'py>>(
    dict: &Bound<'py, PyDict>,
    key: &str,
    expected: &str,
) -> Result<T, String> {
    let value = dict.get_item(key).ok().flatten().ok_or_else(|| format!("{key} is missing"))?;
    value.extract().map_err(|_| format!("{key}: expected {expected}"))
}

/// As results spell it.
pub fn order_name(order: Order) -> &'static str {
    match order {
        Order::Rows => "rows",
        Order::Morton => "morton",
        Order::Hilbert => "hilbert",
    }
}
