//! Certificates: any bytes are a certificate or an error with its line; written ones read back equal; and the
//! verifier says yes or no to every one of them.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use netloom_formats::{read_certificate, write_certificate};
use netloom_model::{Fabric, Traffic};
use netloom_topology::{Structure, detect, generate};
use netloom_verify::verify_certificate;

static CASE: LazyLock<(Fabric, Structure, Traffic)> = LazyLock::new(|| {
    let fabric = generate("two-level:leaves=4,hosts=4,spines=2").expect("a known spec");
    let structure = detect(&fabric);
    let traffic = netloom_traffic::pattern("all-to-all", Some(16)).expect("a known spec");
    (fabric, structure, traffic)
});

fuzz_target!(|bytes: &[u8]| {
    let (fabric, structure, traffic) = &*CASE;
    let Ok(certificate) = read_certificate(bytes, "fuzz", fabric, None) else { return };
    let text = write_certificate(fabric, &certificate, None);
    let again = read_certificate(text.as_bytes(), "again", fabric, None).expect("what was written can be read");
    assert_eq!(again, certificate);
    // Each leaf sends 4 * 12 units over 2 up links, and 12 items of 4 units can be shared out evenly: the optimum is
    // 24, and no certificate that claims more may pass.
    let verdict = verify_certificate(fabric, structure, None, &traffic.total(), &certificate);
    assert!(!verdict.ok || certificate.claim <= 24.0 * (1.0 + 1e-6), "a forged bound passed: {certificate:?}");
});
