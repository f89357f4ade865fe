//! OpenSM's congestion control options of a `netloom.Scenario`, read and written.

use netloom_compose as compose;
use netloom_formats as formats;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;
use crate::run::{Options, run};
use crate::simulating::scenario::PyScenario;

#[pymethods]
impl PyScenario {
    /// What OpenSM's congestion control options say, as overrides of a scenario.
    ///
    /// Parameters
    /// ----------
    /// data : bytes
    ///     An options file of OpenSM (`opensm.conf`), plain or gzip.
    /// label : str, default "<bytes>"
    ///     What messages call it.
    ///
    /// Returns
    /// -------
    /// list of str
    ///     `"congestion.control=ib-cc"` and the settings; `"congestion.control=none"` where it is not enabled.
    ///
    /// Raises
    /// ------
    /// FormatError
    ///     If an option is not what it should be, with its line.
    ///
    /// Examples
    /// --------
    /// >>> netloom.Scenario.opensm_overrides(b"congestion_control FALSE")
    /// ['congestion.control=none']
    #[staticmethod]
    #[pyo3(signature = (data, *, label = "<bytes>"))]
    fn opensm_overrides(py: Python<'_>, data: &[u8], label: &str) -> PyResult<Vec<String>> {
        let read = run(py, Options::default(), |_| formats::read_opensm_cc(data, label))?;
        let found = read.map_err(|e| errors::format(py, &e))?;
        Ok(found.map_or_else(|| vec!["congestion.control=none".into()], |options| options.overrides()))
    }

    /// Its congestion control as options of OpenSM, in a form that `opensm.conf` takes.
    ///
    /// Returns
    /// -------
    /// bytes or None
    ///     `None` unless the control is InfiniBand's (`control = "ib-cc"`) and limits hosts: OpenSM has no option
    ///     for `limit = false`.
    ///
    /// Examples
    /// --------
    /// >>> from netloom import examples
    /// >>> control = 'congestion={control="ib-cc"}'
    /// >>> scenario = netloom.Scenario.read(examples.path("congestion/qcn-victim.toml"), [control])
    /// >>> scenario.opensm_options().decode().splitlines()[1]
    /// 'congestion_control TRUE'
    fn opensm_options<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let congestion = self.stage.scene.profile.config.congestion.as_ref()?;
        let options = compose::opensm_cc(congestion)?;
        let origin = format!("simulate {}", self.stage.label.replace(['\n', '\r'], " "));
        Some(PyBytes::new(py, options.write(&origin).as_bytes()))
    }
}
