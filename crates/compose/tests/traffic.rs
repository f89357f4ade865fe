//! What jobs send, for optimised routes.

use netloom_compose::{ComposeError, traffic};
use netloom_model::Control;
use netloom_testkit::cases::star;

use crate::common::Net;

#[test]
fn all_bytes_of_a_job_are_counted_once() {
    let net = Net::of(star(6));
    let scene = net
        .scene(
            "[[job]]\nranks = 2\nprogram = { kind = \"stream\", pattern = \"bisection\", messages = 5, bytes = 100 }\n\
             [[job]]\nname = \"bully\"\nranks = 4\nranks_per_host = 2\nuntil = \"job1\"\nweight = 0.5\n\
             program = { kind = \"pairs\", pairing = \"halves\", rounds = 2, messages = 3, bytes = 10 }\n",
        )
        .unwrap();
    let total = traffic::total(&net.fabric, &scene.jobs, &Control::new()).unwrap();
    assert_eq!(total.hosts_hash(), Some(net.fabric.hosts_hash()));
    // Ranks 0, 1 of the bully are on host 2 and exchange with 2, 3 on host 3: 2 ranks x 6 messages x 10 bytes, at half weight.
    let entries: Vec<_> = total.total().iter().collect();
    assert_eq!(entries, [(0, 1, 500.0), (1, 0, 500.0), (2, 3, 60.0), (3, 2, 60.0)]);
}

#[test]
fn equal_phases_become_one_that_repeats() {
    let net = Net::of(star(4));
    let scene = net
        .scene("[[job]]\nprogram = { kind = \"stencil\", shape = [2, 2, 1], messages = 1, bytes = 7, iterations = 3 }\n")
        .unwrap();
    let phases = traffic::phases(&net.fabric, &scene.jobs, &Control::new()).unwrap();
    // +x and -x of a ring of two are one exchange, +y and -y another; z stays on the rank.
    let [x, y] = phases.phases() else { panic!("{} phases", phases.phases().len()) };
    assert_eq!((x.repeats, y.repeats), (6.0, 6.0));
    assert_eq!(x.matrix.iter().collect::<Vec<_>>(), [(0, 1, 7.0), (1, 0, 7.0), (2, 3, 7.0), (3, 2, 7.0)]);
    assert_eq!(y.matrix.iter().collect::<Vec<_>>(), [(0, 2, 7.0), (1, 3, 7.0), (2, 0, 7.0), (3, 1, 7.0)]);
}

#[test]
fn collectives_are_the_messages_they_are_made_of() {
    let net = Net::of(star(4));
    let scene = net
        .scene("[[job]]\nprogram = { kind = \"collective\", collective = \"barrier\", bytes = 8, iterations = 2 }\n")
        .unwrap();
    let total = traffic::total(&net.fabric, &scene.jobs, &Control::new()).unwrap();
    // Dissemination: to the rank one further on, then two further on.
    let row = |i| (total.total().row(i).0.to_vec(), total.total().row(i).1.to_vec());
    assert_eq!(row(0), (vec![1, 2], vec![16.0, 16.0]));
    assert_eq!(row(3), (vec![0, 1], vec![16.0, 16.0]));
}

#[test]
fn too_many_phases_are_refused_and_a_stop_is_heard() {
    let net = Net::of(star(12));
    let scene = net
        .scene("[[job]]\nprogram = { kind = \"uniform\", messages = 400, bytes = 8, load = 0.5 }\n")
        .unwrap();
    let control = Control::new();
    let refused = traffic::phases(&net.fabric, &scene.jobs, &control).unwrap_err();
    assert!(matches!(refused, ComposeError::TooManyPhases { most: 256 }), "{refused}");
    control.stop(netloom_model::StopReason::Interrupted);
    assert!(matches!(traffic::phases(&net.fabric, &scene.jobs, &control), Err(ComposeError::Stopped)));
}
