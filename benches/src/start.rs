//! Start-up of the command, from fork to exit.

use std::process::{Command, Stdio};

use crate::Options;
use crate::table::{Row, Table, median_seconds};

/// `netloom --version`, beside Python doing nothing.
pub fn run(table: &mut Table, options: &Options) {
    let Some(netloom) = &options.netloom else {
        let what = "`netloom --version` from the shell".to_owned();
        let measured = "not measured (--netloom COMMAND)".to_owned();
        table.add(Row { what, measured, goal: "0.30 s".into(), right: true, beside: String::new() });
        return;
    };
    let ours = seconds_of(netloom, &["--version"]);
    let python = netloom.rsplit_once('/').map_or("python3".into(), |(folder, _)| format!("{folder}/python"));
    let nothing = seconds_of(&python, &["-c", ""]);
    table.seconds("`netloom --version` from the shell", ours, 0.3, Some(("python -c ''", nothing)));
}

fn seconds_of(command: &str, arguments: &[&str]) -> f64 {
    let run = || {
        let status = Command::new(command).args(arguments).stdout(Stdio::null()).status();
        assert!(status.is_ok_and(|s| s.success()), "{command} {arguments:?} failed");
    };
    run();
    median_seconds(9, run)
}
