//! A mixed-integer linear program whose columns know what they mean.
//!
//! Because every column says which hop, item or link it speaks about, names, a warm start from a routing and a
//! routing from a solution need nothing else: each is one pass over the columns.
//!
//! Invariants: rows hold each column at most once; a column's meaning is unique in its model; objectives are all
//! minimised, one after the other (the first is the model's own).

use std::fmt;
use std::sync::Arc;

use crate::exact::instance::{Choice, Instance, NONE};

/// What a column stands for. Hops, nodes and links by their numbers in the instance; flows in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Var {
    /// The largest load of a link, `maxval`.
    MaxLoad,
    /// T(s, p, d): the flow over a hop.
    Flow(u32),
    /// x(s, p, d): the table's entry is this hop.
    Choice(u32),
    /// What is sent at a node takes a hop.
    Item(u32, u32),
    /// What is sent at `item` takes the hops of column `parent`, then `hop`.
    Prefix {
        /// The node where the item enters.
        item: u32,
        /// The column of the way so far.
        parent: u32,
        /// The next hop.
        hop: u32,
    },
    /// A link's load is above the threshold.
    Hot(u32),
    /// The largest flow for a destination at any receiving switch, `maxperdestlid`.
    PerHost(u32),
    /// The largest flow for a leaf at any receiving switch, `maxperdestleaf`.
    PerLeaf(u32),
    /// The largest flow for a pod at any receiving switch, `maxperdestpod`.
    PerPod(u32),
    /// The largest share of a leaf's traffic that takes one core group, `imbalance`.
    Imbalance,
}

/// One variable.
#[derive(Clone, Debug)]
pub struct Column {
    /// What it stands for.
    pub what: Var,
    /// Least value.
    pub lower: f64,
    /// Largest value, possibly infinite.
    pub upper: f64,
    /// Whole numbers only.
    pub integer: bool,
}

/// A name with numbers in it, written only when somebody asks: `#` stands for the next number.
#[derive(Clone, Copy, Debug)]
pub struct Name(pub &'static str, pub [u32; 3]);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut ids = self.1.iter();
        self.0.chars().try_for_each(|c| match c {
            '#' => write!(f, "{}", ids.next().unwrap_or(&0)),
            c => write!(f, "{c}"),
        })
    }
}

/// All constraints, compressed by rows: `lower <= sum(value * column) <= upper`.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// First term of every row, and the number of terms.
    pub first: Vec<usize>,
    /// Column of every term.
    pub column: Vec<u32>,
    /// Coefficient of every term.
    pub value: Vec<f64>,
    /// Least value of every row, possibly infinite.
    pub lower: Vec<f64>,
    /// Largest value of every row, possibly infinite.
    pub upper: Vec<f64>,
    /// Name of every row.
    pub name: Vec<Name>,
}

/// A linear objective, minimised.
#[derive(Clone, Debug)]
pub struct Objective {
    /// For messages and files.
    pub name: &'static str,
    /// Columns and coefficients.
    pub terms: Vec<(u32, f64)>,
}

/// The program. See the module.
#[derive(Clone, Debug)]
pub struct Model {
    /// What it speaks about.
    pub instance: Arc<Instance>,
    /// Its name.
    pub kind: &'static str,
    /// The variables.
    pub columns: Vec<Column>,
    /// The constraints.
    pub rows: Rows,
    /// The objectives, first things first.
    pub objectives: Vec<Objective>,
    /// Sets of which at most one column is not zero (only where asked for).
    pub sos1: Vec<Vec<u32>>,
}

impl Model {
    /// A model without anything in it.
    pub(crate) fn new(instance: &Arc<Instance>, kind: &'static str) -> Self {
        let rows = Rows { first: vec![0], ..Rows::default() };
        let instance = Arc::clone(instance);
        Self { instance, kind, columns: Vec::new(), rows, objectives: Vec::new(), sos1: Vec::new() }
    }

    /// Adds a column and says its number.
    pub(crate) fn column(&mut self, what: Var, lower: f64, upper: f64, integer: bool) -> u32 {
        self.columns.push(Column { what, lower, upper, integer });
        self.columns.len() as u32 - 1
    }

    /// Adds a flow or another amount that is not negative.
    pub(crate) fn amount(&mut self, what: Var) -> u32 {
        self.column(what, 0.0, f64::INFINITY, false)
    }

    /// Adds a binary.
    pub(crate) fn binary(&mut self, what: Var) -> u32 {
        self.column(what, 0.0, 1.0, true)
    }

    /// Adds a row.
    pub(crate) fn row(
        &mut self,
        name: Name,
        lower: f64,
        upper: f64,
        terms: impl IntoIterator<Item = (u32, f64)>,
    ) {
        for (column, value) in terms {
            self.rows.column.push(column);
            self.rows.value.push(value);
        }
        self.rows.first.push(self.rows.column.len());
        self.rows.lower.push(lower);
        self.rows.upper.push(upper);
        self.rows.name.push(name);
    }

    /// Adds `sum(terms) <= upper`.
    pub(crate) fn at_most(&mut self, name: Name, upper: f64, terms: impl IntoIterator<Item = (u32, f64)>) {
        self.row(name, f64::NEG_INFINITY, upper, terms);
    }

    /// Adds `sum(terms) = value`.
    pub(crate) fn equal(&mut self, name: Name, value: f64, terms: impl IntoIterator<Item = (u32, f64)>) {
        self.row(name, value, value, terms);
    }

    /// The columns x(s, p, d) of every node with a choice, and the rows that make it choose once; by hop,
    /// [`NONE`] where there is nothing to choose.
    pub(crate) fn choices(&mut self) -> Vec<u32> {
        let instance = Arc::clone(&self.instance);
        let mut column = vec![NONE; instance.hops.len()];
        for (n, node) in instance.nodes.iter().enumerate().filter(|(_, node)| node.end - node.first > 1) {
            for k in instance.of(n) {
                column[k] = self.binary(Var::Choice(k as u32));
            }
            let host = instance.targets[node.dest as usize].host.0;
            let terms = instance.of(n).map(|k| (column[k], 1.0));
            self.equal(Name("one_s#_h#", [node.switch, host, 0]), 1.0, terms);
        }
        column
    }

    /// The terms of a row.
    pub(crate) fn terms(&self, row: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.rows.first[row]..self.rows.first[row + 1];
        self.rows.column[range.clone()].iter().copied().zip(self.rows.value[range].iter().copied())
    }

    /// The name of a column: letters say what it is, then `s` switch, `p` port, `h` host by their numbers.
    pub fn column_name(&self, column: usize) -> String {
        let inst = &self.instance;
        let host = |node: u32| inst.targets[inst.nodes[node as usize].dest as usize].host.0;
        let hop = |k: u32| {
            let hop = &inst.hops[k as usize];
            let link = &inst.links[hop.link as usize];
            (link.from, link.port, host(hop.tail))
        };
        match self.columns[column].what {
            Var::MaxLoad => "max_load".into(),
            Var::Imbalance => "imbalance".into(),
            Var::Flow(k) => {
                let (s, p, h) = hop(k);
                format!("T_s{s}_p{p}_h{h}")
            }
            Var::Choice(k) => {
                let (s, p, h) = hop(k);
                format!("x_s{s}_p{p}_h{h}")
            }
            Var::Item(item, k) => {
                let (s, p, h) = hop(k);
                format!("y_from{}_s{s}_p{p}_h{h}", inst.nodes[item as usize].switch)
            }
            Var::Prefix { item, .. } => {
                let mut way = String::new();
                let mut at = column as u32;
                loop {
                    let (k, parent) = match self.columns[at as usize].what {
                        Var::Prefix { parent, hop, .. } => (hop, parent),
                        Var::Choice(k) => (k, NONE),
                        _ => unreachable!("prefixes end in a choice"),
                    };
                    let (s, p, _) = hop(k);
                    way.insert_str(0, &format!("_s{s}_p{p}"));
                    if parent == NONE {
                        break;
                    }
                    at = parent;
                }
                format!("z_from{}_h{}{way}", inst.nodes[item as usize].switch, host(item))
            }
            Var::Hot(link) => {
                let link = &inst.links[link as usize];
                format!("hot_s{}_p{}", link.from, link.port)
            }
            Var::PerHost(dest) => format!("most_h{}", inst.targets[dest as usize].host.0),
            Var::PerLeaf(leaf) => format!("most_leaf{leaf}"),
            Var::PerPod(pod) => format!("most_pod{pod}"),
        }
    }

    /// The value of every column under a routing; `None` if it loses traffic. Columns of secondary objectives stay
    /// at zero. `threshold` is that of [`Var::Hot`].
    pub fn start(&self, choice: &Choice, threshold: f64) -> Option<Vec<f64>> {
        let inst = &self.instance;
        let flow = inst.flows(choice)?;
        let load = inst.loads(&flow);
        let chosen = |k: u32| f64::from(choice[inst.hops[k as usize].tail as usize] == k);
        // The way of the item that the last column spoke about: columns come item by item.
        let (mut last, mut way) = (NONE, Vec::new());
        let mut value = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            value.push(match column.what {
                Var::MaxLoad => load.iter().copied().fold(column.lower, f64::max),
                Var::Flow(k) => flow[k as usize],
                Var::Choice(k) => chosen(k),
                Var::Item(item, k) => {
                    if item != last {
                        (last, way) = (item, inst.walk(choice, item as usize)?);
                    }
                    f64::from(way.contains(&k))
                }
                Var::Prefix { parent, hop, .. } => value[parent as usize] * chosen(hop),
                Var::Hot(link) => f64::from(load[link as usize] > threshold),
                Var::PerHost(_) | Var::PerLeaf(_) | Var::PerPod(_) | Var::Imbalance => 0.0,
            });
        }
        Some(value)
    }

    /// The routing of a solution: at every node the hop with the largest x, or the largest T where there is no x.
    pub fn read(&self, solution: &[f64]) -> Choice {
        let inst = &self.instance;
        let mut choice: Choice = inst.nodes.iter().map(|n| n.first).collect();
        let mut best = vec![0.0; inst.nodes.len()];
        let binaries = self.columns.iter().any(|c| matches!(c.what, Var::Choice(_)));
        for (column, &value) in self.columns.iter().zip(solution) {
            let hop = match column.what {
                Var::Choice(k) => k,
                Var::Flow(k) if !binaries => k,
                _ => continue,
            };
            let tail = inst.hops[hop as usize].tail as usize;
            if value > best[tail] {
                (best[tail], choice[tail]) = (value, hop);
            }
        }
        choice
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Whether values obey bounds, integrality and rows.
    pub(crate) fn obeys(model: &Model, value: &[f64]) -> bool {
        let columns = model.columns.iter().zip(value);
        let fine = columns.clone().all(|(c, v)| c.lower - 1e-9 <= *v && *v <= c.upper + 1e-9)
            && columns.into_iter().all(|(c, v)| !c.integer || v.fract() == 0.0);
        let row = |r: usize| {
            let sum: f64 = model.terms(r).map(|(c, v)| v * value[c as usize]).sum();
            model.rows.lower[r] - 1e-9 <= sum && sum <= model.rows.upper[r] + 1e-9
        };
        fine && (0..model.rows.name.len()).all(row)
    }

    #[test]
    fn names_take_their_numbers_in_order() {
        assert_eq!(Name("one_s#_h#", [3, 14, 0]).to_string(), "one_s3_h14");
    }
}
