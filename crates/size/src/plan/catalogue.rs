//! A catalogue of prices: of a lot of cards for a period. The built-in one holds examples and says so.

use serde::{Deserialize, Serialize};

use super::money::Cents;
use crate::SizeError;

/// A catalogue, from the desk or a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// Always `pilote.catalogue/1`.
    pub format: String,
    /// Who made it: shown beside every price.
    pub from: String,
    /// Whether its prices are only examples, and nobody sells at them.
    #[serde(default)]
    pub examples: bool,
    /// The currency of every price (`USD`).
    pub currency: String,
    /// The offers.
    #[serde(rename = "offer")]
    pub offers: Vec<Offer>,
}

/// The prices of one card's lot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// The card's name.
    pub card: String,
    /// Price of one lot for each period: keys `3`, `7`, `30`.
    pub lot_price: std::collections::BTreeMap<String, Cents>,
    /// The currency, where an offer says its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
}

const SAMPLE: &str = include_str!("../../data/catalogue-sample.toml");

impl Catalogue {
    /// The built-in sample. Its prices are examples and are marked so.
    ///
    /// # Errors
    /// Never for the sample as shipped, which the tests read.
    pub fn sample() -> Result<Self, SizeError> {
        Self::parse("built-in sample", SAMPLE, "USD")
    }

    /// Reads a catalogue whose totals are to be in `currency`: TOML, or JSON where the text begins with a brace.
    ///
    /// # Errors
    /// Another format, an amount that is none, a period that is none, a price in another currency.
    pub fn parse(file: &str, text: &str, currency: &str) -> Result<Self, SizeError> {
        let bad = |problem: String| SizeError::Table { file: file.to_owned(), problem };
        let read: Self = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| bad(error.to_string()))?
        } else {
            toml::from_str(text).map_err(|error| bad(error.to_string()))?
        };
        if read.format != "pilote.catalogue/1" {
            return Err(bad(format!("its format is `{}`; `pilote.catalogue/1` is read", read.format)));
        }
        for offer in &read.offers {
            let found = offer.currency.as_ref().unwrap_or(&read.currency);
            if found != currency {
                return Err(SizeError::Currency {
                    file: file.to_owned(),
                    card: offer.card.clone(),
                    found: found.clone(),
                    wanted: currency.to_owned(),
                });
            }
            if let Some(period) =
                offer.lot_price.keys().find(|period| !["3", "7", "30"].contains(&period.as_str()))
            {
                return Err(bad(format!("{}: `{period}` is no period; 3, 7 and 30 days are", offer.card)));
            }
        }
        Ok(read)
    }
}
