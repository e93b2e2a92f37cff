//! Templates with places to fill: arguments of commands and messages to servers.

use std::borrow::Cow;

use pilote_spec::{Columns, ExactJson};

/// `template` with every `{name}` filled for which `value` gives something, in one pass: what is set in is never looked
/// at again, and any other brace stands for itself.
pub(crate) fn filled<'v>(template: &str, value: impl Fn(&str) -> Option<Cow<'v, str>>) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let place = after.split_once('}').and_then(|(name, rest)| Some((value(name)?, rest)));
        match place {
            Some((value, after_place)) => {
                out.push_str(&value);
                rest = after_place;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// What is set in for a place that names a column: its text, or the JSON that it is. A column that the row lacks is
/// filled with nothing; that its name is declared was seen to when the configuration was read.
pub(crate) fn column<'v>(columns: &Columns, place: &str) -> Option<Cow<'v, str>> {
    let name = place.strip_prefix("column.")?;
    Some(columns.get(name).map(ExactJson::plain).unwrap_or_default().into())
}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn places_are_filled_once_and_other_braces_stay() {
        let value = |name: &str| match name {
            "a" => Some("{b}".into()),
            "b" => Some("two".into()),
            _ => None,
        };
        assert_eq!(filled("{a} {b}{b} {c} {{a}} {\"x\": {a}", value), "{b} twotwo {c} {{b}} {\"x\": {b}");
        assert_eq!(filled("", value), "");
        assert_eq!(filled("{", value), "{");
        assert_eq!(filled("}{a", value), "}{a");
    }
}
