//! Backgrounds with several addresses a host: each is a destination, and bounds on whole items are none of theirs.

use netloom_model::Control;
use netloom_optimize::OptimizeOptions;
use netloom_routing::Engine;
use netloom_testkit::matrix;

use crate::shared::Case;

#[test]
fn several_addresses_a_host_are_separate_destinations() {
    // Two leaves, two spines; four hosts of the first leaf send to one host of the second. With one address
    // all 4 bytes take one link; with two addresses (source modulo 2) they halve.
    let case = Case::generated("two-level:leaves=2,hosts=4,spines=2");
    let traffic = matrix(8, &[(0, 4, 1.0), (1, 4, 1.0), (2, 4, 1.0), (3, 4, 1.0)]);
    let one = case.optimize(&traffic, &case.routes(Engine::Dmodk), 1_000);
    assert_eq!(one.switch_max_load, 4.0);
    let mut background = case.routes_with(Engine::Dmodk, 0, 1);
    background.path = netloom_model::PathChoice::SourceMod;
    // Whole items would bound one address (and one link) to 4; only the adaptive bound holds here. Host 4's link
    // carries 4 anyway, so the overall maximum says little: the part between switches does.
    let two = case.optimize(&traffic, &background, 1_000);
    case.assert_sound(&traffic, &background, &two);
    assert_eq!((two.switch_max_load, two.switch_bound), (2.0, 2.0));
}

#[test]
fn no_bound_on_whole_items_is_issued_where_senders_choose_the_address() {
    // Three hosts send 4 to one host each. One address: two of three items of 4 share one of two links: 8. Two
    // addresses: the leaf has more to choose, and only 12 / 2 = 6 holds.
    let case = Case::generated("two-level:leaves=2,hosts=6,spines=2");
    let entries: Vec<(u64, u64, f64)> = (0..3).flat_map(|d| [(0, 6 + d, 2.0), (1, 6 + d, 2.0)]).collect();
    let traffic = matrix(12, &entries);
    let one = case.optimize(&traffic, &case.routes(Engine::Dmodk), 1_000);
    assert_eq!((one.bound.claim, one.bound.reason.kind()), (8.0, "pigeonhole"));
    let mut background = case.routes_with(Engine::Dmodk, 0, 1);
    background.path = netloom_model::PathChoice::SourceMod;
    let two = case.optimize(&traffic, &background, 1_000);
    case.assert_sound(&traffic, &background, &two);
    assert_eq!((two.bound.claim, two.bound.reason.kind()), (6.0, "dual"));
    assert_eq!((two.switch_max_load, two.proven_optimal), (6.0, true));
    // With one address in use the items stay whole.
    background.path = netloom_model::PathChoice::Base;
    assert_eq!(case.optimize(&traffic, &background, 1_000).bound.claim, 8.0);
}

#[test]
fn no_bound_on_whole_items_is_issued_for_frozen_destinations_of_several_addresses() {
    // As above, but hosts 9 to 11, to which nobody sends, keep their entries: that brought back the 8 of whole items,
    // and 6 was called better than possible.
    let case = Case::generated("two-level:leaves=2,hosts=6,spines=2");
    let entries: Vec<(u64, u64, f64)> = (0..3).flat_map(|d| [(0, 6 + d, 2.0), (1, 6 + d, 2.0)]).collect();
    let traffic = matrix(12, &entries);
    let mut background = case.routes_with(Engine::Dmodk, 0, 1);
    background.path = netloom_model::PathChoice::SourceMod;
    let frozen: Vec<bool> = (0..12).map(|h| h >= 9).collect();
    let change = netloom_optimize::Change { from: &background, penalty: 0.0, most: None, frozen: &frozen };
    let options = OptimizeOptions { work: Some(1000), change: Some(change), ..OptimizeOptions::default() };
    let result = case.optimize_with(&traffic, &background, &options, &Control::new()).unwrap();
    case.assert_sound(&traffic, &background, &result);
    assert_eq!((result.bound.claim, result.switch_max_load, result.proven_optimal), (6.0, 6.0, true));
}
