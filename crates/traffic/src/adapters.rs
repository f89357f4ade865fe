//! Which adapters of its machines a job may use: the keys `adapters` and `storage` of a job.
//!
//! Invariants: whoever names an adapter or rail gets it on every machine of the job, or an error that names the machine; a
//! rail that is asked for by number is the same adapter everywhere, as far as descriptions name adapters.

use netloom_model::{AdapterChoice, Fabric, Machine, Machines, Selector};

use crate::PlaceError;

/// The adapters that a job may use.
pub(crate) struct Allowed<'a> {
    fabric: &'a Fabric,
    job: &'a str,
    choice: &'a AdapterChoice,
    /// By host; `None`: all.
    hosts: Option<Vec<bool>>,
}

impl<'a> Allowed<'a> {
    /// # Errors
    /// [`PlaceError::NoAdapter`] for what is on no machine.
    pub fn of(
        fabric: &'a Fabric,
        machines: &Machines,
        job: &'a str,
        choice: &'a AdapterChoice,
    ) -> Result<Self, PlaceError> {
        if choice.is_all() {
            return Ok(Self { fabric, job, choice, hosts: None });
        }
        let adapters = || machines.all().iter().flat_map(|machine| &machine.adapters);
        for (key, selector) in
            (choice.only.iter().map(|s| ("adapters", s))).chain(choice.storage.iter().map(|s| ("storage", s)))
        {
            if !adapters().any(|adapter| selector.takes(fabric, adapter)) {
                let (what, help) = (what(selector), selector.hint(fabric, machines));
                return Err(PlaceError::NoAdapter { job: job.to_owned(), key, what, help });
            }
        }
        let mut hosts = vec![false; fabric.host_count()];
        for adapter in adapters().filter(|adapter| choice.takes(fabric, adapter)) {
            adapter.hosts.iter().for_each(|host| hosts[host.index()] = true);
        }
        Ok(Self { fabric, job, choice, hosts: Some(hosts) })
    }

    /// What the job may use of a machine; `None` if that lacks an adapter that it asks for, or has none left.
    pub fn of_machine(&self, machine: &Machine) -> Option<Machine> {
        let Some(hosts) = &self.hosts else { return Some(machine.clone()) };
        if self.missing(machine).is_some() {
            return None;
        }
        machine.only(|host| hosts[host.index()])
    }

    /// What the job may use of a machine that it lists, or of one's adapters.
    ///
    /// # Errors
    /// [`PlaceError::LacksAdapter`], [`PlaceError::NothingLeft`].
    pub fn of_listed(&self, machine: &Machine, whole: bool) -> Result<Machine, PlaceError> {
        let Some(hosts) = &self.hosts else { return Ok(machine.clone()) };
        let (job, name) = (self.job.to_owned(), machine.name.clone());
        if let Some(missing) = self.missing(machine).filter(|_| whole) {
            return Err(PlaceError::LacksAdapter { job, machine: name, what: what(missing) });
        }
        machine.only(|host| hosts[host.index()]).ok_or_else(|| {
            let host = if whole { name } else { self.fabric.host_name(machine.first()).to_owned() };
            PlaceError::NothingLeft { job, host }
        })
    }

    /// An adapter or rail that the job asks for and a machine does not have.
    fn missing(&self, machine: &Machine) -> Option<&Selector> {
        let missing = |selector: &&Selector| {
            // Machines of other leaves are on other switches.
            !matches!(selector, Selector::Switch(_))
                && !machine.adapters.iter().any(|adapter| selector.takes(self.fabric, adapter))
        };
        self.choice.only.iter().find(missing)
    }
}

fn what(selector: &Selector) -> String {
    match selector {
        Selector::Name(name) => format!("adapter \"{name}\""),
        Selector::Rail(rail) => format!("rail {rail} (counted from 0)"),
        Selector::Switch(name) => format!("adapter on a switch \"{name}\""),
    }
}

/// Rails that a job asks for by number are one adapter on all of its machines.
///
/// # Errors
/// [`PlaceError::RailsDiffer`].
pub(crate) fn same_rails<'m>(
    job: &str,
    choice: &AdapterChoice,
    machines: impl Iterator<Item = &'m Machine> + Clone,
) -> Result<(), PlaceError> {
    for selector in &choice.only {
        let &Selector::Rail(rail) = selector else { continue };
        let of = |machine: &'m Machine| {
            let adapter = machine.adapters.iter().find(|adapter| adapter.rail == rail && adapter.named)?;
            Some((machine, adapter))
        };
        let mut all = machines.clone().filter_map(of);
        let Some((first, adapter)) = all.next() else { continue };
        if let Some((other, another)) = all.find(|(_, another)| another.name != adapter.name) {
            return Err(PlaceError::RailsDiffer {
                job: job.to_owned(),
                rail,
                one: format!("\"{}\" of machine \"{}\"", adapter.name, first.name),
                other: format!("\"{}\" of \"{}\"", another.name, other.name),
            });
        }
    }
    Ok(())
}
