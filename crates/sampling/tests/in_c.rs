//! The same steps in C: a program over the headers of `dataplane`, compiled, given lines, and what it prints.

use std::path::Path;
use std::process::Command;

/// What a C program prints when it is given `input`; `name` keeps its folder apart from others.
pub fn printed_by(name: &str, program: &str, input: &str) -> String {
    let folder = std::env::temp_dir().join(format!("netloom-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dataplane");
    let (source, binary, lines) =
        (folder.join("packets.c"), folder.join("packets"), folder.join("packets.txt"));
    std::fs::write(&source, program).unwrap();
    let built = Command::new("cc")
        .args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-I"])
        .arg(&header)
        .arg(&source)
        .arg("-o")
        .arg(&binary)
        .output()
        .expect("a C compiler, which Rust links with");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    std::fs::write(&lines, input).unwrap();
    let ran = Command::new(&binary).stdin(std::fs::File::open(&lines).unwrap()).output().unwrap();
    assert!(ran.status.success());
    std::fs::remove_dir_all(&folder).unwrap();
    String::from_utf8(ran.stdout).unwrap()
}
