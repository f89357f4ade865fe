//! Traffic and sums, and jobs on their hosts.

use netloom_model::traffic::{is_amount, is_repeats};
use netloom_model::{Csr, Hose, HostId, Job, MAX_ENDPOINTS, Phase, Placement, Traffic};
use netloom_traffic::MadeOf;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use super::words::kept;
use super::{Content, Loaded, Saved, Word};
use crate::jobs::PyJob;
use crate::run::{Options, run};
use crate::sums::PyHose;
use crate::traffic::PyTraffic;

#[derive(Serialize, Deserialize)]
struct State {
    hosts_hash: Option<u64>,
    phases: Vec<(String, f64, Rows)>,
    /// From one to another, of collectives, within endpoints, left out.
    made_of: Option<[f64; 4]>,
    notes: Vec<(Word, String)>,
}

/// A [`Csr`] whose invariants nobody has checked.
#[derive(Serialize, Deserialize)]
struct Rows {
    offsets: Vec<u64>,
    columns: Vec<u32>,
    bytes: Vec<f64>,
    packets: Option<Vec<f64>>,
}

impl Rows {
    fn of(matrix: &Csr) -> Self {
        Self {
            offsets: matrix.offsets().to_vec(),
            columns: matrix.columns().to_vec(),
            bytes: matrix.bytes().to_vec(),
            packets: matrix.packets().map(<[f64]>::to_vec),
        }
    }

    fn is_sound(&self) -> bool {
        let (offsets, columns, entries) = (&self.offsets, &self.columns, self.columns.len());
        let size = offsets.len().saturating_sub(1);
        let rises = |row: &[u64]| {
            row[0] <= row[1]
                && row[1] <= entries as u64
                && columns[row[0] as usize..row[1] as usize].windows(2).all(|pair| pair[0] < pair[1])
        };
        size <= MAX_ENDPOINTS as usize
            && (offsets.first(), offsets.last()) == (Some(&0), Some(&(entries as u64)))
            && offsets.windows(2).all(rises)
            && columns.iter().all(|&column| (column as usize) < size)
            && self.bytes.len() == entries
            && self.bytes.iter().all(|&bytes| bytes > 0.0 && is_amount(bytes))
            && self.packets.as_ref().is_none_or(|p| p.len() == entries && p.iter().all(|&p| is_amount(p)))
    }

    fn matrix(self) -> Csr {
        Csr::from_parts(self.offsets, self.columns, self.bytes, self.packets)
    }
}

impl State {
    fn traffic(phases: Vec<(String, f64, Rows)>, hosts_hash: Option<u64>) -> Option<Traffic> {
        let size = phases.first()?.2.offsets.len();
        let fits = |(_, repeats, rows): &(String, f64, Rows)| {
            is_repeats(*repeats) && rows.offsets.len() == size && rows.is_sound()
        };
        if !phases.iter().all(fits) {
            return None;
        }
        let phases =
            phases.into_iter().map(|(name, repeats, rows)| Phase { name, repeats, matrix: rows.matrix() });
        Some(Traffic::from_phases(phases.collect()).with_hosts_hash(hosts_hash))
    }
}

impl Content for PyTraffic {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        let shared = &slf.get().shared;
        let phases = shared.traffic.phases().iter();
        let state = State {
            hosts_hash: shared.traffic.hosts_hash(),
            phases: phases.map(|p| (p.name.clone(), p.repeats, Rows::of(&p.matrix))).collect(),
            made_of: shared.made_of.map(|m| [m.point_to_point, m.collective, m.within_endpoints, m.left_out]),
            notes: kept(shared.notes.iter().map(|(kind, text)| (*kind, text.as_str()))),
        };
        Saved::new(&state, Vec::new())
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let State { hosts_hash, phases, made_of, notes } = loaded.state()?;
        let traffic = run(py, Options::default(), |_| State::traffic(phases, hosts_hash))?;
        let traffic = traffic.ok_or_else(|| loaded.damaged("its rows are none of a matrix"))?;
        let made_of = made_of.map(|[point_to_point, collective, within_endpoints, left_out]| MadeOf {
            point_to_point,
            collective,
            within_endpoints,
            left_out,
        });
        let notes = notes.into_iter().map(|(kind, text)| (kind.0, text)).collect();
        Py::new(py, Self::made(traffic, made_of, notes))
    }
}

impl Content for PyHose {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        let Hose { sent, received, hosts_hash } = &slf.get().hose;
        Saved::new(&(sent, received, hosts_hash), Vec::new())
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let (sent, received, hosts_hash): (Vec<f64>, Vec<f64>, _) = loaded.state()?;
        let amounts = sent.iter().chain(&received).all(|&bytes| is_amount(bytes));
        let sound = sent.len() == received.len() && amounts;
        let hose = loaded.sound(Hose { sent, received, hosts_hash }, sound)?;
        Py::new(py, Self { hose })
    }
}

impl Content for PyJob {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        let Job { name, hosts, placement } = &slf.get().0;
        Saved::new(&(name, hosts, &placement.host_of_rank), Vec::new())
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let (name, hosts, host_of_rank): (String, Vec<HostId>, Vec<HostId>) = loaded.state()?;
        Py::new(py, Self(Job { name, hosts, placement: Placement { host_of_rank } }))
    }
}
