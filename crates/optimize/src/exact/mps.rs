//! Models as free-format MPS: what every solver reads.
//!
//! Names are those of [`Model::column_name`] and of the rows; a comment says what the numbers mean. Secondary objectives
//! are further free rows, which solvers ignore. SOS1 sets are a section of their own (Gurobi and CPLEX read it, HiGHS
//! does not).

use std::fmt::Write;

use crate::exact::model::Model;

/// The model as text.
pub fn mps(model: &Model) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    write(model, &mut out).expect("memory");
    out
}

fn write(model: &Model, out: &mut String) -> std::fmt::Result {
    writeln!(out, "* netloom {} model; one unit is {} bytes", model.kind, model.instance.unit)?;
    writeln!(out, "* s switch, p output port, h destination host, by number from 0 in natural name order")?;
    writeln!(out, "NAME {}", model.kind)?;
    writeln!(out, "ROWS")?;
    for objective in &model.objectives {
        writeln!(out, " N obj_{}", objective.name)?;
    }
    let rows = &model.rows;
    let range =
        |r: usize| rows.lower[r].is_finite() && rows.upper[r].is_finite() && rows.lower[r] < rows.upper[r];
    for (r, name) in rows.name.iter().enumerate() {
        let kind = match (rows.lower[r].is_finite(), rows.upper[r].is_finite()) {
            (true, true) if rows.lower[r] == rows.upper[r] => 'E',
            (true, _) => 'G',
            _ => 'L',
        };
        writeln!(out, " {kind} {name}")?;
    }
    columns(model, out)?;
    writeln!(out, "RHS")?;
    for (r, name) in rows.name.iter().enumerate() {
        let value = if rows.lower[r].is_finite() { rows.lower[r] } else { rows.upper[r] };
        if value != 0.0 {
            writeln!(out, " rhs {name} {value}")?;
        }
    }
    if (0..rows.name.len()).any(range) {
        writeln!(out, "RANGES")?;
        for r in (0..rows.name.len()).filter(|&r| range(r)) {
            writeln!(out, " range {} {}", rows.name[r], rows.upper[r] - rows.lower[r])?;
        }
    }
    writeln!(out, "BOUNDS")?;
    for (c, column) in model.columns.iter().enumerate() {
        let name = || model.column_name(c);
        if column.integer && column.lower == 0.0 && column.upper == 1.0 {
            writeln!(out, " BV bound {}", name())?;
            continue;
        }
        if column.lower != 0.0 {
            writeln!(out, " LO bound {} {}", name(), column.lower)?;
        }
        if column.upper.is_finite() {
            writeln!(out, " UP bound {} {}", name(), column.upper)?;
        }
    }
    if !model.sos1.is_empty() {
        writeln!(out, "SOS")?;
        for (set, columns) in model.sos1.iter().enumerate() {
            writeln!(out, " S1 set{set}")?;
            for (weight, &c) in columns.iter().enumerate() {
                writeln!(out, "    {} {}", model.column_name(c as usize), weight + 1)?;
            }
        }
    }
    writeln!(out, "ENDATA")
}

/// The matrix by columns, integers between markers.
fn columns(model: &Model, out: &mut String) -> std::fmt::Result {
    let rows = model.rows.name.len();
    let mut first = vec![0usize; model.columns.len() + 1];
    model.rows.column.iter().for_each(|&c| first[c as usize + 1] += 1);
    (0..model.columns.len()).for_each(|c| first[c + 1] += first[c]);
    let mut next = first.clone();
    let mut terms = vec![(0u32, 0.0); model.rows.column.len()];
    for r in 0..rows {
        for (c, value) in model.terms(r) {
            terms[next[c as usize]] = (r as u32, value);
            next[c as usize] += 1;
        }
    }
    let mut costs = vec![Vec::new(); model.columns.len()];
    for objective in &model.objectives {
        objective.terms.iter().for_each(|&(c, v)| costs[c as usize].push((objective.name, v)));
    }
    writeln!(out, "COLUMNS")?;
    let mut integer = false;
    let mut markers = 0;
    for (c, column) in model.columns.iter().enumerate() {
        if column.integer != integer {
            let kind = if column.integer { "INTORG" } else { "INTEND" };
            writeln!(out, " marker{markers} 'MARKER' '{kind}'")?;
            markers += 1;
            integer = column.integer;
        }
        let name = model.column_name(c);
        for (objective, value) in &costs[c] {
            writeln!(out, " {name} obj_{objective} {value}")?;
        }
        for &(r, value) in &terms[first[c]..first[c + 1]] {
            writeln!(out, " {name} {} {value}", model.rows.name[r as usize])?;
        }
        if costs[c].is_empty() && first[c] == first[c + 1] {
            // A column must be mentioned to exist.
            if let Some(objective) = model.objectives.first() {
                writeln!(out, " {name} obj_{} 0", objective.name)?;
            }
        }
    }
    if integer { writeln!(out, " marker{markers} 'MARKER' 'INTEND'") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::exact::cases::{instance, one_pod};
    use crate::exact::objective::Goal;

    #[test]
    fn a_small_model_reads_well() {
        let ((fabric, _), inst) = instance(&one_pod(), &[(0, 2, 5.0)]);
        let inst = Arc::new(inst);
        let text = mps(&crate::exact::basic(&inst, Goal::MaxLoad { least: 1.25 }, false));
        let leaf = fabric.leaf(netloom_model::HostId(0)).0;
        // 5 bytes in units of 4; the tight constant is all of it.
        for line in [
            "* netloom basic model; one unit is 4 bytes",
            " N obj_max_load",
            &format!(" E one_s{leaf}_h2"),
            &format!(" x_s{leaf}_p3_h2 by_s{leaf}_p3_h2 -1.25"),
            &format!(" rhs flow_s{leaf}_h2 1.25"),
            &format!(" BV bound x_s{leaf}_p4_h2"),
            " LO bound max_load 1.25",
        ] {
            assert!(text.lines().any(|l| l == line), "no line {line:?} in\n{text}");
        }
        assert!(text.ends_with("ENDATA\n"));
        assert!(!text.contains("SOS"));
        let text = mps(&crate::exact::basic(&inst, Goal::MaxLoad { least: 0.0 }, true));
        assert!(text.contains(" S1 set0\n") && !text.contains(" BV "));
    }

    #[test]
    fn names_are_unique() {
        let (_, inst) = instance(&crate::exact::cases::two_pods(), &[(0, 4, 1.0), (2, 4, 1.0), (0, 2, 1.0)]);
        let inst = Arc::new(inst);
        let goal = Goal::MaxLoad { least: 0.0 };
        let models = [
            crate::exact::basic(&inst, goal, false),
            crate::exact::product(&inst, goal).unwrap(),
            crate::exact::productless(&inst, goal).unwrap(),
        ];
        for model in &models {
            let mut names: Vec<String> = (0..model.columns.len()).map(|c| model.column_name(c)).collect();
            names.extend(model.rows.name.iter().map(ToString::to_string));
            let all = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), all, "{}", model.kind);
        }
    }
}
