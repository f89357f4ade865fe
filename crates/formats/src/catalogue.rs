//! Catalogues: what switches and cables cost, each price with its date and source. TOML.
//!
//! ```toml
//! name = "slimfly-2014"
//! currency = "$"                       # for text; "$" unless given
//! date = 2014-11-16                    # of all prices that have none of their own
//! source = "Besta, Hoefler: Slim Fly, SC14"
//!
//! [[switch]]
//! ports = 48                           # any number unless given
//! speed_gbps = 40
//! price = -892.3                       # fixed part; 0 unless given
//! price_per_port = 350.4               # 0 unless given
//! power_w = 0.0                        # likewise, W
//! power_w_per_port = 2.8
//!
//! [[cable]]
//! kind = "copper"
//! speed_gbps = 40
//! price = 23.084
//! price_per_m = 16.316
//! power_w = 0.0                        # of both ends
//! most_m = 7.0                         # the longest; without end unless given
//! date = 2014-11-16
//! source = "…"
//! ```
//! A price must not be negative for any number of ports that the switch is sold with: where `ports` is given that is
//! checked here, else by whoever knows the number. Every key is known or refused, and every error names its line.

use toml_edit::{Item, Table};

use crate::error::excerpt;
use crate::keys::{Keys, Place};
use crate::{FormatError, decompress};

/// A catalogue, read.
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogueFile {
    /// Its name; empty if it has none.
    pub name: String,
    /// How prices are marked.
    pub currency: String,
    /// The switches; at least one.
    pub switches: Vec<CatalogueSwitch>,
    /// The cables; at least one.
    pub cables: Vec<CatalogueCable>,
}

/// When and where a price was told.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Year, month and day: `2014-11-16`.
    pub date: String,
    /// A page, an offer, a paper.
    pub source: String,
}

/// A switch on offer.
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogueSwitch {
    /// Its ports; `None` if it is sold with any number.
    pub ports: Option<u32>,
    /// Speed of a port, Gb/s.
    pub speed_gbps: f64,
    /// Fixed part of its price.
    pub price: f64,
    /// What each port adds.
    pub price_per_port: f64,
    /// Fixed part of its power, W.
    pub power_w: f64,
    /// What each port adds, W.
    pub power_w_per_port: f64,
    /// When and where.
    pub told: Told,
}

/// A kind of cable on offer.
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogueCable {
    /// `copper`, `optical`, ….
    pub kind: String,
    /// Its speed, Gb/s.
    pub speed_gbps: f64,
    /// Fixed part of its price.
    pub price: f64,
    /// What each metre adds.
    pub price_per_m: f64,
    /// Power of both ends, W.
    pub power_w: f64,
    /// The longest, m; infinite unless given.
    pub most_m: f64,
    /// When and where.
    pub told: Told,
}

const FILE_KEYS: [&str; 6] = ["name", "currency", "date", "source", "switch", "cable"];
const SWITCH_KEYS: [&str; 8] =
    ["ports", "speed_gbps", "price", "price_per_port", "power_w", "power_w_per_port", "date", "source"];
const CABLE_KEYS: [&str; 8] =
    ["kind", "speed_gbps", "price", "price_per_m", "power_w", "most_m", "date", "source"];
/// More switches or cables than this are refused.
const MOST_ENTRIES: usize = 4096;
/// Amounts are at most this, so that sums stay finite.
const MOST_AMOUNT: f64 = 1e12;

/// Reads a catalogue.
///
/// # Errors
/// [`FormatError`] names the line: TOML that is none, an unknown key (with the nearest known one), a price that is
/// negative, missing, undated or without source.
pub fn read_catalogue(bytes: &[u8], label: &str) -> Result<CatalogueFile, FormatError> {
    let bytes = decompress(bytes, label)?;
    let at = Place::of(&bytes, label)?;
    let document = at.document()?;
    let root = document.as_table();
    let file = Keys::new(&at, root, &FILE_KEYS, "a catalogue")?;
    let whole = (date(&file)?, text(&file, "source")?);
    let switches = tables(&at, &file, "switch")?.into_iter().map(|t| read_switch(&at, t, &whole));
    let cables = tables(&at, &file, "cable")?.into_iter().map(|t| read_cable(&at, t, &whole));
    Ok(CatalogueFile {
        name: text(&file, "name")?.unwrap_or_default(),
        currency: text(&file, "currency")?.unwrap_or_else(|| "$".into()),
        switches: switches.collect::<Result<_, _>>()?,
        cables: cables.collect::<Result<_, _>>()?,
    })
}

/// The tables of `[[key]]`; at least one.
fn tables<'a>(at: &Place, file: &Keys<'a>, key: &str) -> Result<Vec<&'a Table>, FormatError> {
    match file.item(key) {
        Some(Item::ArrayOfTables(tables)) if tables.len() <= MOST_ENTRIES => Ok(tables.iter().collect()),
        Some(Item::ArrayOfTables(_)) => Err(file.error(key, format!("expected at most {MOST_ENTRIES}"))),
        Some(_) => Err(file.error(key, format!("expected [[{key}]], with two brackets"))),
        None => Err(FormatError::whole(at.label, format!("expected at least one [[{key}]], found none"))),
    }
}

/// A text of printable characters, if there is one.
pub(crate) fn text(keys: &Keys, key: &str) -> Result<Option<String>, FormatError> {
    match keys.text(key)? {
        Some(text) if text.trim().is_empty() || text.contains(char::is_control) => {
            Err(keys.error(key, "expected a text of printable characters".into()))
        }
        text => Ok(text.map(str::to_owned)),
    }
}

/// A TOML date, or the same as a text.
fn date(keys: &Keys) -> Result<Option<String>, FormatError> {
    let Some(item) = keys.item("date") else { return Ok(None) };
    let wrong = |found: &str| {
        Err(keys
            .error("date", format!("expected a day such as 2014-11-16, found \"{}\"", excerpt(found.trim()))))
    };
    if let Some(time) = item.as_datetime() {
        return match time.date {
            Some(day) => Ok(Some(day.to_string())),
            None => wrong(&time.to_string()),
        };
    }
    let Some(text) = item.as_str() else { return wrong(item.type_name()) };
    match text.parse::<toml_edit::Datetime>() {
        Ok(time) if time.time.is_none() && time.date.is_some() => Ok(Some(text.to_owned())),
        _ => wrong(text),
    }
}

/// When and where a price was told, by the entry or by the whole file.
fn told(keys: &Keys, whole: &(Option<String>, Option<String>)) -> Result<Told, FormatError> {
    let missing = |key: &str, what: &str| {
        keys.whole_error(format!("expected {key} = {what}: a price without it is worth nothing"))
    };
    let date = date(keys)?.or_else(|| whole.0.clone());
    let source = text(keys, "source")?.or_else(|| whole.1.clone());
    Ok(Told {
        date: date.ok_or_else(|| missing("date", "the day of this price"))?,
        source: source.ok_or_else(|| missing("source", "\"who told it, and where\""))?,
    })
}

const AMOUNT: &str = "an amount that is not negative, at most 1e12";

fn amount(keys: &Keys, key: &str) -> Result<Option<f64>, FormatError> {
    keys.number(key, AMOUNT, |x| (0.0..=MOST_AMOUNT).contains(&x))
}

fn speed(keys: &Keys) -> Result<f64, FormatError> {
    let speed = keys.number("speed_gbps", SPEED, is_speed)?;
    speed.ok_or_else(|| keys.whole_error(format!("expected speed_gbps = {SPEED}")))
}

pub(crate) const SPEED: &str = "a speed in Gb/s, above 0 and at most 1e6";

pub(crate) fn is_speed(speed: f64) -> bool {
    speed > 0.0 && speed <= 1e6
}

fn read_switch(
    at: &Place,
    table: &Table,
    whole: &(Option<String>, Option<String>),
) -> Result<CatalogueSwitch, FormatError> {
    let keys = Keys::new(at, table, &SWITCH_KEYS, "a switch")?;
    if keys.item("price").is_none() && keys.item("price_per_port").is_none() {
        return Err(keys.whole_error("expected price or price_per_port, found neither".into()));
    }
    let each = amount(&keys, "price_per_port")?.unwrap_or(0.0);
    // The fixed part of a formula may be negative, what comes out may not.
    let least = if each > 0.0 { -MOST_AMOUNT } else { 0.0 };
    let fixed = keys.number("price", AMOUNT, |x| (least..=MOST_AMOUNT).contains(&x))?.unwrap_or(0.0);
    let ports = keys.whole("ports", 2..=65_534)?.map(|n| n as u32);
    if let Some(ports) = ports.filter(|&n| fixed + each * f64::from(n) < 0.0) {
        let found = fixed + each * f64::from(ports);
        return Err(keys.error("price", format!("expected {AMOUNT}, found {found} for {ports} ports")));
    }
    Ok(CatalogueSwitch {
        ports,
        speed_gbps: speed(&keys)?,
        price: fixed,
        price_per_port: each,
        power_w: amount(&keys, "power_w")?.unwrap_or(0.0),
        power_w_per_port: amount(&keys, "power_w_per_port")?.unwrap_or(0.0),
        told: told(&keys, whole)?,
    })
}

fn read_cable(
    at: &Place,
    table: &Table,
    whole: &(Option<String>, Option<String>),
) -> Result<CatalogueCable, FormatError> {
    let keys = Keys::new(at, table, &CABLE_KEYS, "a cable")?;
    if keys.item("price").is_none() && keys.item("price_per_m").is_none() {
        return Err(keys.whole_error("expected price or price_per_m, found neither".into()));
    }
    let kind = text(&keys, "kind")?;
    let most_m = keys.number("most_m", "metres, above 0 and at most 1e6", |x| x > 0.0 && x <= 1e6)?;
    Ok(CatalogueCable {
        kind: kind.ok_or_else(|| keys.whole_error("expected kind = \"copper\", or another word".into()))?,
        speed_gbps: speed(&keys)?,
        price: amount(&keys, "price")?.unwrap_or(0.0),
        price_per_m: amount(&keys, "price_per_m")?.unwrap_or(0.0),
        power_w: amount(&keys, "power_w")?.unwrap_or(0.0),
        most_m: most_m.unwrap_or(f64::INFINITY),
        told: told(&keys, whole)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "name = \"x\"\ndate = 2014-11-16\nsource = \"SC14\"\n[[switch]]\nspeed_gbps = 40\n\
                        price = -892.3\nprice_per_port = 350.4\n[[cable]]\nkind = \"copper\"\nspeed_gbps = 40\n\
                        price = 23\ndate = \"2015-01-02\"\n";

    fn wrong(text: &str) -> String {
        read_catalogue(text.as_bytes(), "c.toml").unwrap_err().to_string()
    }

    #[test]
    fn every_price_has_a_date_and_a_source() {
        let file = read_catalogue(GOOD.as_bytes(), "c.toml").unwrap();
        assert_eq!((file.name.as_str(), file.currency.as_str()), ("x", "$"));
        assert_eq!(file.switches[0].told, Told { date: "2014-11-16".into(), source: "SC14".into() });
        assert_eq!(file.cables[0].told.date, "2015-01-02");
        assert_eq!((file.switches[0].price, file.cables[0].most_m), (-892.3, f64::INFINITY));
    }

    #[test]
    fn bad_catalogues_are_refused_by_line() {
        let cases = [
            ("date = 2014-11-16\n", "", "c.toml:3: expected date = the day of this price"),
            ("source = \"SC14\"\n", "", "c.toml:3: expected source = "),
            ("price = 23\n", "", "c.toml:8: expected price or price_per_m, found neither"),
            ("price = 23\n", "price = -1\n", "c.toml:11: price: expected an amount that is not negative"),
            ("price = 23\n", "price = nan\n", "c.toml:11: price: expected an amount"),
            ("price_per_port = 350.4\n", "", "c.toml:6: price: expected an amount that is not negative"),
            ("price_per_port = 350.4\n", "price_per_port = 1\nports = 48\n", "found -844.3 for 48 ports"),
            ("2014-11-16", "\"soon\"", "c.toml:2: date: expected a day such as 2014-11-16, found \"soon\""),
            ("2014-11-16", "12:00:00", "c.toml:2: date: expected a day"),
            ("2014-11-16", "2014", "c.toml:2: date: expected a day such as 2014-11-16, found \"integer\""),
            (
                "speed_gbps",
                "speed_gbs",
                "c.toml:5: a switch has no key \"speed_gbs\", did you mean \"speed_gbps\"?",
            ),
            ("kind = \"copper\"\n", "", "c.toml:8: expected kind = "),
            ("[[switch]]", "[switch]", "switch: expected [[switch]], with two brackets"),
            ("\"x\"", "\"\"", "c.toml:1: name: expected a text of printable characters"),
            ("name", "=", "expected TOML"),
        ];
        for (from, to, expected) in cases {
            let error = wrong(&GOOD.replacen(from, to, 1));
            assert!(error.contains(expected), "{from} -> {to}: {error}");
        }
        let no_cable = &GOOD[..GOOD.find("[[cable]]").unwrap()];
        assert!(wrong(no_cable).contains("expected at least one [[cable]]"));
        assert!(read_catalogue(&[0xff, 0xfe, 0x00], "c.toml").is_err());
    }
}
