//! The published prices of 2014, recorded applications, and requests made of them.

use netloom_model::{Control, Traffic};
use netloom_planning::{
    Answer, Application, Bundles, Cable, Catalogue, Goal, Offer, Order, Prices, Rate, Request, Run, Share,
    Switch, plan,
};

/// Slim Fly (Besta, Hoefler, SC14): 350.4 $ a port less 892.3 $; 40 Gb/s cables; 2.8 W a port.
pub fn slimfly() -> Catalogue {
    let cable = |kind: &str, each: f64, fixed: f64| Cable {
        kind: kind.into(),
        speed_gbps: 40.0,
        price: Rate { fixed: fixed * 40.0, each: each * 40.0 },
        power_w: 0.0,
        most_m: f64::INFINITY,
    };
    Catalogue {
        switches: vec![Switch {
            ports: None,
            speed_gbps: 40.0,
            price: Rate { fixed: -892.3, each: 350.4 },
            power_w: Rate { fixed: 0.0, each: 2.8 },
        }],
        cables: vec![cable("copper", 0.4079, 0.5771), cable("optical", 0.0919, 7.2745)],
    }
}

/// Hosts by 2 m of copper, all else by 20 m of fibre.
pub fn runs() -> [Run; 3] {
    let run = |kind: &str, length_m: f64| Run { kind: Some(kind.into()), length_m };
    [run("copper", 2.0), run("optical", 20.0), run("optical", 20.0)]
}

pub fn prices(radix: u32) -> Prices {
    slimfly().prices(radix, None, &runs()).unwrap()
}

/// A recorded application of `examples/data`.
pub fn recorded(name: &str) -> Traffic {
    let path = format!("{}/../../examples/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    if name.contains(".mtx") {
        return netloom_formats::read_mtx(&bytes, name).unwrap();
    }
    let trace = netloom_formats::read_ti(&bytes, name).unwrap();
    netloom_traffic::recorded(&trace, &netloom_traffic::RecordedOptions::default()).unwrap().traffic
}

pub fn application(name: &str, traffic: Traffic) -> Application {
    Application {
        name: name.into(),
        weight: 1.0,
        share: Share::Assumed,
        traffic,
        ranks_per_host: 1,
        copies: Some(1),
    }
}

pub fn request(hosts: u32, radix: u32, levels: &[u32], applications: Vec<Application>) -> Request {
    Request {
        hosts,
        offers: vec![Offer { radix, prices: prices(radix) }],
        levels: levels.to_vec(),
        bundles: Bundles::Any,
        applications,
        orders: vec![Order::Block],
        draws: 1,
        seed: 0,
        node_price: None,
        goal: Goal::default(),
        compare: Vec::new(),
    }
}

pub fn answer(request: &Request) -> Answer {
    plan(request, &Control::new()).unwrap()
}
