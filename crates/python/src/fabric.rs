//! `netloom.Fabric`: the fabric with what is derived from it (structure, path sets), each made once.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use netloom_bounds::{self as bounds, Outside};
use netloom_formats as formats;
use netloom_model::names::nearest;
use netloom_model::{
    End, Fabric, FabricBuilder, FabricError, Finding, HostSpec, LinkId, Machines, SwitchId, SwitchSpec,
};
use netloom_routing::{PathSet, RoutingError, Steering};
use netloom_topology::{self as topology, Damage, NO_LEVEL, Stage, Structure};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyWeakrefMethods, PyWeakrefReference};

use crate::findings::findings;
use crate::run::{Options, run};
use crate::{arguments, errors, io, shape};

/// A fabric and what is derived from it on demand.
pub struct Shared {
    /// The fabric itself.
    pub fabric: Fabric,
    structure: OnceLock<Structure>,
    paths: OnceLock<PathSet>,
    shortest: OnceLock<PathSet>,
    steering: OnceLock<Result<Steering, RoutingError>>,
    outside: OnceLock<Option<Outside>>,
    other_shortest: OnceLock<bool>,
    /// What it was read from, in a word.
    pub(crate) kind: String,
    /// What was odd about that.
    pub(crate) read_findings: Vec<Finding>,
    /// Its object in Python, while one lives.
    object: Mutex<Option<Py<PyWeakrefReference>>>,
}

impl Shared {
    /// A fabric with what was noticed while it was read.
    pub fn new(fabric: Fabric, kind: impl Into<String>, read_findings: Vec<Finding>) -> Arc<Self> {
        Arc::new(Self {
            fabric,
            structure: OnceLock::new(),
            paths: OnceLock::new(),
            shortest: OnceLock::new(),
            steering: OnceLock::new(),
            outside: OnceLock::new(),
            other_shortest: OnceLock::new(),
            kind: kind.into(),
            read_findings,
            object: Mutex::new(None),
        })
    }

    /// The object that stands for it, if one lives.
    pub fn known(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let known = self.object.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref()?.bind(py).upgrade().map(Bound::unbind)
    }

    /// That `object` stands for it, unless another does.
    pub fn known_as(&self, object: &Bound<'_, PyFabric>) -> PyResult<()> {
        if self.known(object.py()).is_none() {
            let weak = PyWeakrefReference::new(object.as_any())?.unbind();
            *self.object.lock().unwrap_or_else(PoisonError::into_inner) = Some(weak);
        }
        Ok(())
    }

    /// Levels, pods and core groups.
    pub fn structure(&self) -> &Structure {
        self.structure.get_or_init(|| topology::detect(&self.fabric))
    }

    /// The admissible next links.
    pub fn paths(&self) -> &PathSet {
        self.paths.get_or_init(|| PathSet::minimal(&self.fabric, self.structure()))
    }

    /// The next links of shortest ways, up and down or not.
    pub fn shortest(&self) -> &PathSet {
        self.shortest.get_or_init(|| PathSet::shortest(&self.fabric))
    }

    /// What packets that take detours must know.
    pub fn steering(&self) -> Result<&Steering, RoutingError> {
        let made = self.steering.get_or_init(|| Steering::new(&self.fabric, self.structure()));
        made.as_ref().map_err(Clone::clone)
    }

    /// Why bounds of up*/down* ways mislead on this fabric; none on trees.
    pub fn outside(&self) -> Option<&Outside> {
        let found = || bounds::fabric_outside(&self.fabric, self.structure(), self.paths());
        self.outside.get_or_init(found).as_ref()
    }

    /// Whether shortest ways of the fabric are more than up*/down* ones.
    pub fn other_shortest(&self) -> bool {
        let found = || bounds::has_other_shortest(&self.fabric, self.structure(), self.paths());
        *self.other_shortest.get_or_init(found)
    }
}

/// Hosts, switches and directed links of one network. Immutable.
#[pyclass(frozen, weakref, name = "Fabric", module = "netloom._core")]
pub struct PyFabric {
    /// Shared with routes and loads made on it.
    pub shared: Arc<Shared>,
}

#[pymethods]
impl PyFabric {
    /// Reads a dump, or makes the fabric that a generator's spec names (specs win over files).
    ///
    /// Parameters
    /// ----------
    /// source : path
    ///     A dump (ibnetdiscover, ibdiagnet, ibsim, …), a spec, or `FILE#PLANE`, one plane of a dump of several.
    /// name_map : path, optional
    ///     Names of switches by GUID, as OpenSM's node name map.
    ///
    /// Returns
    /// -------
    /// Fabric
    ///
    /// Raises
    /// ------
    /// FormatError, FabricError, SpecError, OSError
    ///     If it is no such file or spec, or nodes and cables make no fabric.
    ///
    /// References
    /// ----------
    /// `docs/methods/file-formats.md`, `docs/methods/fabric-detection.md`.
    ///
    /// Examples
    /// --------
    /// >>> netloom.Fabric.read("quartz1").hosts
    /// 3072
    #[staticmethod]
    #[pyo3(signature = (source, *, name_map = None))]
    pub fn read(py: Python<'_>, source: PathBuf, name_map: Option<PathBuf>) -> PyResult<Self> {
        if let Some(spec) = source.to_str().filter(|s| topology::is_generator(s)) {
            return Self::generate(py, spec);
        }
        let (source, plane) = split_plane(source);
        let data = io::read(py, &source).map_err(|e| match source.to_str().and_then(unknown) {
            Some(message) => errors::spec(py, message),
            None => e,
        })?;
        let map =
            name_map.map(|p| Ok::<_, PyErr>((io::read(py, &p)?, p.display().to_string()))).transpose()?;
        Self::from_bytes(py, &data, &source.display().to_string(), map, plane.as_deref())
    }

    /// Makes the fabric that a generator's spec names.
    ///
    /// Parameters
    /// ----------
    /// spec : str
    ///     E.g. `"two-level:leaves=8,hosts=4,spines=4"`, `"quartz1"`, `"dragonfly:p=4,a=8,h=4"`; `docs/verbs/fabric.md` lists them.
    ///
    /// Returns
    /// -------
    /// Fabric
    ///
    /// Raises
    /// ------
    /// SpecError
    ///     If there is no such generator, or a number is out of its range.
    ///
    /// Examples
    /// --------
    /// >>> netloom.Fabric.generate("two-level:leaves=8,hosts=4,spines=4").hosts
    /// 32
    #[staticmethod]
    fn generate(py: Python<'_>, spec: &str) -> PyResult<Self> {
        let fabric =
            run(py, Options::default(), |_| topology::generate(spec))?.map_err(|e| errors::spec(py, e))?;
        Ok(Self { shared: Shared::new(fabric, "generated", Vec::new()) })
    }

    /// A fabric from its cables.
    ///
    /// GUIDs are made up; there are no LIDs.
    ///
    /// Parameters
    /// ----------
    /// hosts : sequence of (str, str, int)
    ///     Name, machine and port of each.
    /// switches : sequence of (str, int)
    ///     Name and radix of each.
    /// cables : sequence of (int, int, int, int, float)
    ///     Node, port, node, port, bytes per second; nodes are hosts first, then switches, as in `link_table`.
    /// findings : sequence of (str, str), default ()
    ///     Kind and text of what is odd about them.
    ///
    /// Returns
    /// -------
    /// Fabric
    ///
    /// Raises
    /// ------
    /// FabricError
    ///     If nodes and cables make no fabric.
    #[staticmethod]
    #[pyo3(signature = (hosts, switches, cables, *, findings = Vec::new()))]
    fn from_cables(
        py: Python<'_>,
        hosts: Vec<(String, String, u16)>,
        switches: Vec<(String, u16)>,
        cables: Vec<(usize, u16, usize, u16, f64)>,
        findings: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let nodes = hosts.len() + switches.len();
        if let Some(node) = cables.iter().flat_map(|c| [c.0, c.2]).find(|&node| node >= nodes) {
            return Err(errors::fabric(py, format!("a cable at node {node}: expected nodes below {nodes}")));
        }
        let fabric = run(py, Options::default(), |_| cabled(hosts, switches, &cables))?
            .map_err(|e| errors::fabric(py, e))?;
        let kinds = ["no-kind", "self-cable", "unlinked-host", "no-speed", "unnamed-port"];
        let findings = findings.into_iter().filter_map(|(kind, text)| {
            kinds.into_iter().find(|known| *known == kind).map(|kind| Finding { kind, text })
        });
        Ok(Self { shared: Shared::new(fabric, "cables", findings.collect()) })
    }

    /// A fabric from a networkx graph.
    ///
    /// Parameters
    /// ----------
    /// graph : networkx graph
    ///     Nodes and cables.
    /// **options
    ///     As of `netloom.graphs.from_networkx`.
    ///
    /// Returns
    /// -------
    /// Fabric
    ///
    /// Raises
    /// ------
    /// FabricError
    ///     If nodes and edges make no fabric.
    #[staticmethod]
    #[pyo3(signature = (graph, **options))]
    fn from_networkx<'py>(
        graph: Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        graph.py().import("netloom.graphs")?.call_method("from_networkx", (&graph,), options)
    }

    /// A fabric from a list of edges.
    ///
    /// Parameters
    /// ----------
    /// edges : iterable of (node, node)
    ///     Cables.
    /// **options
    ///     As of `netloom.graphs.from_edges`.
    ///
    /// Returns
    /// -------
    /// Fabric
    ///
    /// Raises
    /// ------
    /// FabricError
    ///     If they make no fabric.
    ///
    /// Examples
    /// --------
    /// >>> cables = [(f"h{i}", f"leaf{i // 4}") for i in range(8)] + [(f"leaf{i}", "spine") for i in (0, 1)]
    /// >>> netloom.Fabric.from_edges(cables).hosts
    /// 8
    #[staticmethod]
    #[pyo3(signature = (edges, **options))]
    fn from_edges<'py>(
        edges: Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        edges.py().import("netloom.graphs")?.call_method("from_edges", (&edges,), options)
    }

    /// Parses a dump.
    ///
    /// Parameters
    /// ----------
    /// data : bytes
    ///     What a dump holds, gzip or not.
    /// label : str, default "<bytes>"
    ///     What messages call the data.
    /// name_map : bytes, optional
    ///     Names of switches by GUID.
    /// name_map_label : str, default "<name map>"
    ///     What messages call these.
    /// plane : str, optional
    ///     Which plane, of a dump of several.
    ///
    /// Returns
    /// -------
    /// Fabric
    ///
    /// Raises
    /// ------
    /// FormatError, FabricError
    ///     If it is no dump, or nodes and cables make no fabric.
    #[staticmethod]
    #[pyo3(signature = (data, *, label = "<bytes>", name_map = None, name_map_label = "<name map>", plane = None))]
    fn parse(
        py: Python<'_>,
        data: &[u8],
        label: &str,
        name_map: Option<Vec<u8>>,
        name_map_label: &str,
        plane: Option<&str>,
    ) -> PyResult<Self> {
        Self::from_bytes(py, data, label, name_map.map(|m| (m, name_map_label.to_owned())), plane)
    }

    /// How many hosts there are: adapters' ports that have a cable.
    #[getter]
    fn hosts(&self) -> usize {
        self.fabric().host_count()
    }

    /// How many switches there are.
    #[getter]
    fn switches(&self) -> usize {
        self.fabric().switch_count()
    }

    /// Directed links whose cable works.
    #[getter]
    fn links(&self) -> usize {
        self.fabric().alive_count()
    }

    /// Levels of switches, leaves included.
    #[getter]
    fn levels(&self) -> u8 {
        self.shared.structure().levels
    }

    /// Pods: parts that only the highest level joins.
    #[getter]
    fn pods(&self) -> u32 {
        self.shared.structure().pods
    }

    /// Groups of switches of the highest level that reach the same switches below.
    #[getter]
    fn core_groups(&self) -> u32 {
        self.shared.structure().core_groups
    }

    /// Whether the fabric is a perfect tree.
    #[getter]
    fn regular(&self) -> bool {
        self.shared.structure().regular
    }

    /// Why the fabric is not a perfect tree; `None` if it is one.
    #[getter]
    fn irregular(&self) -> Option<&str> {
        self.shared.structure().irregular.as_deref()
    }

    /// What kind of network it is, with the groups of a dragonfly or megafly, the dimensions of a HyperX, torus or mesh.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        shape::dict(py, &self.shared.structure().shape)
    }

    /// Whether it has shortest ways, those with the fewest links between switches, that are not up*/down*.
    #[getter]
    fn has_other_shortest(&self) -> bool {
        self.shared.other_shortest()
    }

    /// LID mask control: 2^lmc addresses a host.
    #[getter]
    fn lmc(&self) -> u8 {
        self.fabric().lmc()
    }

    /// Where it comes from: `ibnetdiscover`, `ibsim`, `generated`, `cables`, …
    #[getter]
    fn kind(&self) -> &str {
        &self.shared.kind
    }

    /// What is odd about it, each `{"kind": …, "text": …}`; `netloom.findings` says how bad a kind is.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let detected = &self.shared.structure().findings;
        let all = self.shared.read_findings.iter().chain(detected);
        findings(py, all.map(|f| (f.kind, f.text.as_str().into())))
    }

    /// Hash of the hosts and their order; traffic placed on the fabric has it.
    #[getter]
    fn hosts_hash(&self) -> String {
        format!("{:016x}", self.fabric().hosts_hash())
    }

    /// Hash of nodes and cables; routes written for the fabric have it.
    #[getter]
    fn cabling_hash(&self) -> String {
        format!("{:016x}", self.fabric().cabling_hash())
    }

    /// Names of the hosts, by number.
    #[getter]
    fn host_names(&self) -> Vec<&str> {
        let f = self.fabric();
        f.hosts().map(|h| f.host_name(h)).collect()
    }

    /// Names of the switches, by number.
    #[getter]
    fn switch_names(&self) -> Vec<&str> {
        let f = self.fabric();
        f.switches().map(|s| f.switch_name(s)).collect()
    }

    /// Number of switches at each level, leaves first.
    fn switches_per_level(&self) -> Vec<usize> {
        let structure = self.shared.structure();
        (0..structure.levels).map(|l| structure.switches_at(l).count()).collect()
    }

    /// The working links' speeds in bytes per second and how many have each, the fastest first.
    fn link_speeds(&self) -> Vec<(f64, usize)> {
        let f = self.fabric();
        let mut speeds: Vec<f64> =
            f.links().filter(|&l| f.alive(l)).map(|l| f.bandwidth_bytes_per_s(l)).collect();
        speeds.sort_unstable_by(|a, b| b.total_cmp(a));
        speeds.chunk_by(|a, b| a == b).map(|of| (of[0], of.len())).collect()
    }

    /// The stages of a tree between switches, from the leaves up, each a dict; see `netloom.health.stages`.
    fn stages<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let found = netloom_topology::stages(self.fabric(), self.shared.structure());
        let dict = |stage: Stage| {
            let (uplinks, dict) = (PyDict::new(py), PyDict::new(py));
            uplinks.set_item("least", stage.uplinks.0)?;
            uplinks.set_item("most", stage.uplinks.1)?;
            dict.set_item("cables", stage.cables)?;
            dict.set_item("uplinks", uplinks)?;
            dict.set_item("over_subscription", stage.over_subscription)?;
            dict.set_item("bisection_bytes_per_second", stage.bytes_per_s / 2.0)?;
            dict.set_item("bisection_of_hosts", stage.of_hosts)?;
            Ok(dict)
        };
        found.into_iter().map(dict).collect()
    }

    /// Adapters of the machine that has most of them.
    #[getter]
    fn rails(&self) -> usize {
        let machines = Machines::of(self.fabric());
        self.fabric().hosts().map(|h| machines.adapter(h).rail + 1).max().unwrap_or(0)
    }

    /// Columns of the host table: name, machine, adapter, rail (the adapter's place among its machine's), guid, port_guid, port, lid (0 = none), leaf.
    fn host_table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let f = self.fabric();
        let table = PyDict::new(py);
        table.set_item("name", self.host_names())?;
        table.set_item("machine", f.hosts().map(|h| f.machine(h)).collect::<Vec<_>>())?;
        let machines = Machines::of(f);
        table.set_item("adapter", f.hosts().map(|h| &machines.adapter(h).name).collect::<Vec<_>>())?;
        table.set_item("rail", column(py, f.hosts().map(|h| machines.adapter(h).rail as u32)))?;
        table.set_item("guid", column(py, f.hosts().map(|h| f.host_guid(h))))?;
        table.set_item("port_guid", column(py, f.hosts().map(|h| f.host_port_guid(h))))?;
        table.set_item("port", column(py, f.hosts().map(|h| f.host_port(h))))?;
        table.set_item("lid", column(py, f.hosts().map(|h| f.host_lid(h).unwrap_or(0))))?;
        table.set_item("leaf", column(py, f.hosts().map(|h| f.leaf(h).0)))?;
        Ok(table)
    }

    /// Columns of the switch table: name, guid, radix, lid (0 = none), level (-1 = cut off), group of a
    /// dragonfly or megafly, pod and core_group (-1 = none).
    fn switch_table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (f, structure) = (self.fabric(), self.shared.structure());
        let level = |s: SwitchId| match structure.level[s.index()] {
            NO_LEVEL => -1,
            level => i16::from(level),
        };
        let signed = |group: u32| if group == u32::MAX { -1 } else { i64::from(group) };
        let table = PyDict::new(py);
        table.set_item("name", self.switch_names())?;
        table.set_item("guid", column(py, f.switches().map(|s| f.switch_guid(s))))?;
        table.set_item("radix", column(py, f.switches().map(|s| f.radix(s))))?;
        table.set_item("lid", column(py, f.switches().map(|s| f.switch_lid(s).unwrap_or(0))))?;
        table.set_item("level", column(py, f.switches().map(level)))?;
        let groups = shape::groups(&structure.shape);
        let group = |s| groups.map_or(-1, |groups| i64::from(groups.group(s)));
        table.set_item("group", column(py, f.switches().map(group)))?;
        table.set_item("pod", column(py, f.switches().map(|s| signed(structure.pod[s.index()]))))?;
        table.set_item(
            "core_group",
            column(py, f.switches().map(|s| signed(structure.core_group[s.index()]))),
        )?;
        Ok(table)
    }

    /// Columns of the link table: source and target (node ids: hosts first, then switches), their ports,
    /// bandwidth in bytes per second, alive, between_switches.
    fn link_table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let f = self.fabric();
        let table = PyDict::new(py);
        table.set_item("source", column(py, f.links().map(|l| f.link_from(l).0)))?;
        table.set_item("source_port", column(py, f.links().map(|l| f.link(l).from_port)))?;
        table.set_item("target", column(py, f.links().map(|l| f.link_to(l).0)))?;
        table.set_item("target_port", column(py, f.links().map(|l| f.link(l).to_port)))?;
        table.set_item("bandwidth_bytes_per_s", column(py, f.links().map(|l| f.bandwidth_bytes_per_s(l))))?;
        table.set_item("alive", column(py, f.links().map(|l| f.alive(l))))?;
        table.set_item("between_switches", column(py, f.links().map(|l| f.between_switches(l))))?;
        Ok(table)
    }

    /// The fabric with some cables and switches dead.
    ///
    /// Parameters
    /// ----------
    /// links : sequence of str, default ()
    ///     Cables by an end: `"leaf00[5]"`.
    /// switches : sequence of str, default ()
    ///     Switches by name.
    /// random_links, random_switches : int, default 0
    ///     So many more, drawn at random.
    /// seed : int, default 0
    ///     Seed of the draw.
    ///
    /// Returns
    /// -------
    /// (Fabric, list of str)
    ///     What is left, and what was killed, in words.
    ///
    /// Raises
    /// ------
    /// FabricError
    ///     If there is no such cable or switch, or not so many.
    ///
    /// Examples
    /// --------
    /// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
    /// >>> left, removed = fabric.damage(random_links=1, seed=1)
    /// >>> fabric.links - left.links, len(removed)
    /// (2, 1)
    #[pyo3(signature = (*, links = Vec::new(), switches = Vec::new(), random_links = 0, random_switches = 0, seed = 0))]
    fn damage(
        &self,
        py: Python<'_>,
        links: Vec<String>,
        switches: Vec<String>,
        #[pyo3(from_py_with = arguments::random_links)] random_links: usize,
        #[pyo3(from_py_with = arguments::random_switches)] random_switches: usize,
        #[pyo3(from_py_with = arguments::seed)] seed: u64,
    ) -> PyResult<(Self, Vec<String>)> {
        let links = links
            .iter()
            .map(|text| {
                named_port(text).ok_or_else(|| {
                    errors::fabric(
                        py,
                        format!("no such port \"{text}\": expected NAME[PORT], e.g. leaf00[5]"),
                    )
                })
            })
            .collect::<PyResult<Vec<_>>>()?;
        let what = Damage { links, switches, random_links, random_switches, ..Damage::default() };
        let damaged = topology::damage(self.fabric(), &what, seed).map_err(|e| errors::fabric(py, e))?;
        let f = self.fabric();
        let killed = damaged.switches.iter().map(|&s| format!("switch {}", f.switch_name(s)));
        let killed =
            killed.chain(damaged.cables.iter().map(|&l| format!("cable {}", f.describe_link(l)))).collect();
        let kind = self.shared.kind.clone();
        Ok((Self { shared: Shared::new(damaged.fabric, kind, Vec::new()) }, killed))
    }

    /// The same fabric with these switches on top of up*/down* ways, as OpenSM's `root_guid_file` states them.
    ///
    /// Up and down go by the distance from the nearest of them, then by GUID. Engines, bounds and the optimiser follow.
    ///
    /// Parameters
    /// ----------
    /// roots : sequence of str
    ///     Names or GUIDs (`0x…`) of switches. None: netloom chooses, as for any fabric.
    ///
    /// Returns
    /// -------
    /// Fabric
    ///
    /// Raises
    /// ------
    /// FabricError
    ///     If there is no such switch, or several of the name.
    ///
    /// References
    /// ----------
    /// `docs/methods/fabric-detection.md`.
    ///
    /// Examples
    /// --------
    /// >>> fabric = netloom.Fabric.generate("dragonfly:p=2,a=4,h=2").with_roots(["g00r0"])
    /// >>> fabric.order
    /// 'with g00r0 on top'
    fn with_roots(&self, py: Python<'_>, roots: Vec<String>) -> PyResult<Self> {
        let f = self.fabric();
        let found = roots.iter().map(|text| root(f, text).map_err(|e| errors::fabric(py, e)));
        let found: Vec<SwitchId> = found.collect::<PyResult<_>>()?;
        let fabric = f.with_roots(found);
        Ok(Self { shared: Shared::new(fabric, self.shared.kind.clone(), self.shared.read_findings.clone()) })
    }

    /// The same fabric as a dragonfly of these groups, in place of what netloom finds from its cables.
    ///
    /// Parameters
    /// ----------
    /// groups : sequence of int
    ///     A number from 0 to 65,535 for every switch, in the order of `switch_table`; equal numbers are one group.
    ///
    /// Returns
    /// -------
    /// Fabric
    ///
    /// Raises
    /// ------
    /// FabricError
    ///     If there is not one for every switch, or all are in one group; if most groups have no cables that join their switches, or
    ///     most pairs of groups have none.
    ///
    /// References
    /// ----------
    /// `docs/methods/dragonfly.md`.
    ///
    /// Examples
    /// --------
    /// >>> fabric = netloom.Fabric.generate("dragonfly:p=2,a=8,h=8,g=9")
    /// >>> fabric.with_groups([s // 8 for s in range(72)]).shape["groups"]
    /// 9
    pub(crate) fn with_groups(&self, py: Python<'_>, groups: Vec<i64>) -> PyResult<Self> {
        let f = self.fabric();
        let (wanted, found) = (f.switch_count(), groups.len());
        if found != wanted {
            return Err(errors::fabric(
                py,
                format!("expected a group for each of {wanted} switches, found {found}"),
            ));
        }
        let number = |&group: &i64| u16::try_from(group).map(u32::from).map_err(|_| group);
        let groups: Result<Vec<u32>, i64> = groups.iter().map(number).collect();
        let groups = groups.map_err(|group| {
            errors::fabric(py, format!("expected numbers of groups from 0 to 65535, found {group}"))
        })?;
        if let Some(reason) = topology::unfit_groups(f, &groups) {
            return Err(errors::fabric(py, reason));
        }
        let fabric = f.with_groups(groups);
        Ok(Self { shared: Shared::new(fabric, self.shared.kind.clone(), self.shared.read_findings.clone()) })
    }

    /// What up and down go by, in words, where it is not the levels alone; else `None`.
    #[getter]
    fn order(&self) -> Option<&str> {
        self.shared.structure().order.as_deref()
    }

    /// The fabric in a file format.
    ///
    /// Parameters
    /// ----------
    /// format : {"ibnetdiscover", "ibsim", "cables", "dot"}
    ///     The format.
    ///
    /// Returns
    /// -------
    /// bytes
    ///
    /// Raises
    /// ------
    /// FormatError, FabricError
    ///     If there is no such format, or it cannot hold the fabric.
    fn to_bytes<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.serialise(py, format)?.as_bytes()))
    }

    /// Writes the fabric.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     The file; it is replaced whole or not at all.
    /// format : {"ibnetdiscover", "ibsim", "cables", "dot"}, optional
    ///     None: by the ending.
    ///
    /// Raises
    /// ------
    /// FormatError, FabricError, OSError
    ///     If there is no such format, it cannot hold the fabric, or the file cannot be written.
    #[pyo3(signature = (path, *, format = None))]
    fn write(&self, py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<()> {
        let name = path.to_string_lossy();
        let stem = name.strip_suffix(".gz").unwrap_or(&name);
        let format = match format {
            Some(format) => format,
            None if stem.ends_with(".net") => "ibsim",
            None if stem.ends_with(".dot") => "dot",
            None if stem.ends_with(".csv") => "cables",
            None if stem.ends_with(".txt") => "ibnetdiscover",
            None => {
                let message = format!(
                    "{name}: expected an ending of .txt (ibnetdiscover), .net (ibsim), .csv (cables) or .dot, each also with .gz"
                );
                return Err(errors::format_parts(py, &message, Some(&name), None));
            }
        };
        io::write(py, &path, self.serialise(py, format)?.as_bytes())
    }

    /// The fabric as a graph; needs networkx.
    ///
    /// Returns
    /// -------
    /// networkx.MultiDiGraph
    ///     Nodes are hosts first, then switches, with `kind` and `name`; an edge a directed link.
    fn to_networkx(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        slf.py().import("netloom.graphs")?.call_method1("to_networkx", (slf,))
    }

    /// Links as an Arrow table.
    ///
    /// Returns
    /// -------
    /// pyarrow.Table
    ///     from, from_port, to, to_port, bandwidth_bytes_per_s, alive, between_switches.
    fn to_arrow(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        slf.py().import("netloom.interop")?.call_method1("fabric_to_arrow", (slf,))
    }

    /// Links as a pandas DataFrame: the columns of `to_arrow`.
    fn to_pandas(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        slf.py().import("netloom.frames")?.call_method1("to_pandas", (slf,))
    }

    fn __repr__(&self) -> String {
        let f = self.fabric();
        format!(
            "<netloom.Fabric: {} hosts, {} switches, {} directed links>",
            f.host_count(),
            f.switch_count(),
            f.alive_count()
        )
    }
}

impl PyFabric {
    /// The fabric itself.
    pub fn fabric(&self) -> &Fabric {
        &self.shared.fabric
    }

    fn from_bytes(
        py: Python<'_>,
        data: &[u8],
        label: &str,
        map: Option<(Vec<u8>, String)>,
        plane: Option<&str>,
    ) -> PyResult<Self> {
        let file = run(py, Options::default(), |_| {
            let map = map.as_ref().map(|(m, l)| (m.as_slice(), l.as_str()));
            formats::read_plane(data, label, map, plane)
        })?
        .map_err(|e| errors::format(py, &e))?;
        let findings = file.findings.iter().map(|f| {
            let text = match f.line {
                Some(line) => format!("{label}:{line}: {}", f.text),
                None => format!("{label}: {}", f.text),
            };
            Finding { kind: f.kind, text }
        });
        Ok(Self { shared: Shared::new(file.fabric, file.kind.name(), findings.collect()) })
    }

    fn serialise(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        let text = match format {
            "ibsim" => formats::write_ibsim_net(self.fabric()),
            "ibnetdiscover" => formats::write_ibnetdiscover(self.fabric()),
            "cables" => formats::write_cables(self.fabric()),
            "dot" => Ok(formats::write_dot(self.fabric(), &self.shared.structure().level)),
            other => {
                let message =
                    format!("unknown format \"{other}\": expected ibnetdiscover, ibsim, cables or dot");
                return Err(errors::format_parts(py, &message, None, None));
            }
        };
        text.map_err(|e| errors::write(py, &e))
    }
}

/// A file and one of its planes: `net.txt#2`, unless a file is called so.
pub fn split_plane(source: PathBuf) -> (PathBuf, Option<String>) {
    let Some((file, plane)) = source.to_str().and_then(|text| text.rsplit_once('#')) else {
        return (source, None);
    };
    if source.exists() || !Path::new(file).exists() {
        return (source, None);
    }
    (PathBuf::from(file), Some(plane.to_owned()))
}

/// A fabric without LIDs, of made-up GUIDs.
fn cabled(
    hosts: Vec<(String, String, u16)>,
    switches: Vec<(String, u16)>,
    cables: &[(usize, u16, usize, u16, f64)],
) -> Result<Fabric, FabricError> {
    let count = hosts.len();
    let mut builder = FabricBuilder::new();
    for (at, (name, machine, port)) in hosts.into_iter().enumerate() {
        // Two GUIDs each: the adapter's and its port's.
        let guid = 0x0001_0000_0000_0000 + 2 * at as u64;
        builder.host(HostSpec { name, machine, guid, port_guid: guid + 1, port, lid: None });
    }
    for (at, (name, radix)) in switches.into_iter().enumerate() {
        builder.switch(SwitchSpec::new(name, 0x0002_0000_0000_0000 + at as u64, radix));
    }
    let end = |node: usize, port: u16| {
        if node < count { End::Host(node) } else { End::Switch(node - count, port) }
    };
    for &(a, p, b, q, bandwidth) in cables {
        builder.cable(end(a, p), end(b, q), bandwidth);
    }
    builder.build()
}

/// A description of one directed link, as results list it.
pub fn link_dict<'py>(
    py: Python<'py>,
    fabric: &Fabric,
    link: LinkId,
    load: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let l = fabric.link(link);
    let dict = PyDict::new(py);
    dict.set_item("from", fabric.node_name(l.from))?;
    dict.set_item("from_port", l.from_port)?;
    dict.set_item("to", fabric.node_name(l.to))?;
    dict.set_item("to_port", l.to_port)?;
    dict.set_item("load", load)?;
    Ok(dict)
}

fn column<'py, T: numpy::Element>(
    py: Python<'py>,
    values: impl Iterator<Item = T>,
) -> Bound<'py, numpy::PyArray1<T>> {
    numpy::PyArray1::from_iter(py, values)
}

/// The switch that a name or a GUID means.
fn root(fabric: &Fabric, text: &str) -> Result<SwitchId, String> {
    let guid = text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let named = |s: &SwitchId| match guid {
        Some(guid) => fabric.switch_guid(*s) == guid,
        None => fabric.switch_name(*s) == text,
    };
    let found: Vec<SwitchId> = fabric.switches().filter(named).collect();
    match found[..] {
        [one] => Ok(one),
        [] => {
            let near = nearest(text, fabric.switches().map(|s| fabric.switch_name(s)));
            let near = near.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
            Err(format!("no switch is called \"{text}\"{near}: expected names or GUIDs (0x…) of switches"))
        }
        _ => Err(format!("{} switches are called \"{text}\": expected a GUID (0x…)", found.len())),
    }
}

/// Splits `leaf00[5]`.
fn named_port(text: &str) -> Option<(String, u16)> {
    let (name, port) = text.strip_suffix(']')?.rsplit_once('[')?;
    Some((name.to_owned(), port.parse().ok()?))
}

/// What to say of a source that is no file, if it looks like a generator's spec.
pub fn unknown(source: &str) -> Option<String> {
    let name = source.split(':').next().unwrap_or_default();
    if name.contains(['/', '\\', '.']) {
        return None;
    }
    let hint = match nearest(name, topology::generator_names()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if source.contains(':') => format!("expected one of {}", topology::generator_names().join(", ")),
        None => return None,
    };
    Some(format!("there is no file \"{source}\" and no generator \"{name}\": {hint}"))
}
