//! What is expected of pairs before they are measured: how their bytes may differ from a first guess, and together with whom.
//!
//! A guess made of few atoms is right on the whole and wrong in detail: boundaries, coarse levels, what depends on the data. The
//! difference is taken as Gaussian with a covariance that is a sum over *families*: pairs of one offset differ alike, so do pairs of
//! like offsets, a pair and its opposite, and each pair for itself. Bytes of the least change that explains the counters then go to
//! whole families before they go to single pairs. This is Tikhonov regularisation with structure; with single pairs only it is the
//! least-norm solution that network tomography uses.
//!
//! Invariant: the covariance is symmetric and positive, for every choice of the shares.
//!
//! Source: Tarantola, *Inverse Problem Theory*, 2005, sec. 3.2; Zhang et al., *Fast accurate computation of large-scale IP traffic matrices
//! from link loads* (tomogravity), SIGMETRICS 2003.

use std::collections::BTreeMap;

use netloom_model::rng::{Stream, normal};

use crate::dictionary::Grid;
use crate::operator::{Operator, Pair, Participants};
use crate::settings::Shares;

/// Which pairs belong together.
#[derive(Clone, Debug)]
pub struct Families {
    /// `[pair]`: its opposite, or `u32::MAX`.
    opposite: Vec<u32>,
    /// `[pair]`: its offset.
    offset: Vec<u32>,
    offsets: usize,
    /// `[offset]`: like offsets.
    alike: Vec<u32>,
    alikes: usize,
}

impl Families {
    /// The families of all pairs; jobs without a grid have no offsets (each pair is then of the family of none).
    pub fn new(operator: &Operator, jobs: &[Participants], grids: &[Option<Grid>]) -> Self {
        let (mut alike, mut keys) = (vec![0], BTreeMap::new());
        let mut alikes = 1;
        let mut base = Vec::with_capacity(jobs.len());
        let mut codes = Vec::with_capacity(jobs.len());
        for (job, grid) in jobs.iter().zip(grids) {
            base.push(alike.len());
            let Some(grid) = grid else {
                codes.push(Vec::new());
                continue;
            };
            // A host with several ranks stands where its first one does.
            let of_rank = grid.codes();
            codes
                .push(job.ranks_of_host.iter().map(|ranks| of_rank[ranks[0] as usize]).collect::<Vec<i64>>());
            keys.clear();
            let most = grid.most();
            for class in -most..=most {
                let mut parts = grid.offset(class).map(i64::abs);
                parts.sort_unstable();
                let key = *keys.entry(parts).or_insert_with(|| {
                    alikes += 1;
                    alikes as u32 - 1
                });
                alike.push(key);
            }
        }
        let offset = |pair: Pair| {
            let job = pair.job as usize;
            let (Some(grid), codes) = (grids[job], &codes[job]) else { return 0 };
            let class = codes[pair.destination as usize] - codes[pair.source as usize];
            (base[job] as i64 + class + grid.most()) as u32
        };
        let (opposite, offset) = (operator.opposites(), operator.iter().map(offset).collect());
        Self { opposite, offset, offsets: alike.len(), alike, alikes }
    }

    /// Multiplies `g` by the covariance of pairs that have these standard deviations each.
    pub fn spread(&self, g: &mut [f64], deviation: &[f64], shares: &Shares) {
        let mut of_offset = vec![0.0; self.offsets];
        let mut of_alike = vec![0.0; self.alikes];
        for (p, g) in g.iter_mut().enumerate() {
            *g *= deviation[p];
            of_offset[self.offset[p] as usize] += *g;
        }
        // Pairs without a grid are no family.
        of_offset[0] = 0.0;
        for (&sum, &alike) in of_offset.iter().zip(&self.alike) {
            of_alike[alike as usize] += sum;
        }
        for (sum, &alike) in of_offset.iter_mut().zip(&self.alike).skip(1) {
            *sum = shares.offset * *sum + shares.alike * of_alike[alike as usize];
        }
        // Pair and opposite at once, from the first of them.
        for p in 0..g.len() {
            let other = self.opposite[p];
            if other != u32::MAX && other as usize > p {
                let (a, b) = (g[p], g[other as usize]);
                g[p] = a + shares.opposite * b;
                g[other as usize] = b + shares.opposite * a;
            }
        }
        for (p, g) in g.iter_mut().enumerate() {
            *g = (*g + of_offset[self.offset[p] as usize]) * deviation[p];
        }
    }

    /// A draw from pairs that have these standard deviations each.
    pub fn draw(&self, deviation: &[f64], shares: &Shares, draw: &mut Stream) -> Vec<f64> {
        let mut normals = |n: usize| (0..n).map(|_| normal(draw)).collect::<Vec<f64>>();
        let (of_offset, of_alike) = (normals(self.offsets), normals(self.alikes));
        let (mut own, both) = (normals(deviation.len()), normals(deviation.len()));
        // What a pair shares with its opposite is drawn by the first of the two.
        for p in 0..own.len() {
            let other = self.opposite[p];
            if other != u32::MAX {
                let shared = both[p.min(other as usize)];
                own[p] = (1.0 - shares.opposite).sqrt() * own[p] + shares.opposite.sqrt() * shared;
            }
        }
        for (p, own) in own.iter_mut().enumerate() {
            let offset = self.offset[p] as usize;
            if offset != 0 {
                let alike = of_alike[self.alike[offset] as usize];
                *own += shares.offset.sqrt() * of_offset[offset] + shares.alike.sqrt() * alike;
            }
            *own *= deviation[p];
        }
        own
    }
}
