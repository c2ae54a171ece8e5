//! JSON as it is printed: one value a line, fields in the order they were put in.
//!
//! Callers put fields in a fixed order and lists in a sorted one; floats are rounded to four
//! decimals, so that equal answers are equal bytes.

use serde_json::{Map, Number, Value};

/// Prints a value on one line, without a line end.
pub fn compact(value: &Value) -> String {
    value.to_string()
}

/// Prints an object of fields in their order on one line, without building it first: names are
/// identifiers and need no escapes. For rows by the hundred thousand.
pub fn compact_row<'a>(fields: impl Iterator<Item = (&'a str, &'a Value)>) -> String {
    let mut line = Vec::with_capacity(256);
    for (name, value) in fields {
        line.push(if line.is_empty() { b'{' } else { b',' });
        line.push(b'"');
        line.extend_from_slice(name.as_bytes());
        line.extend_from_slice(b"\":");
        serde_json::to_writer(&mut line, value).expect("because a value prints into memory");
    }
    line.extend_from_slice(if line.is_empty() { b"{}" } else { b"}" });
    String::from_utf8(line).expect("because JSON of texts is UTF-8")
}

/// A number with at most four decimals; whole numbers print without a point.
pub fn decimal(value: f64) -> Value {
    let rounded = (value * 10_000.0).round() / 10_000.0;
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        return Value::from(rounded as i64);
    }
    Number::from_f64(rounded).map_or(Value::Null, Value::Number)
}

/// Makes an object of its fields, in their order.
pub fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::{compact, compact_row, decimal, object};

    #[test]
    fn decimals_are_short_and_exact() {
        assert_eq!(compact(&decimal(0.9)), "0.9");
        assert_eq!(compact(&decimal(0.3 / 7.0)), "0.0429");
        assert_eq!(compact(&decimal(1.0)), "1");
    }

    #[test]
    fn fields_keep_their_order() {
        assert_eq!(compact(&object([("b", 1.into()), ("a", 2.into())])), r#"{"b":1,"a":2}"#);
        let values = ["say \"hi\"\n".into(), serde_json::Value::Null];
        let row = ["b", "a"].into_iter().zip(&values);
        assert_eq!(compact_row(row), r#"{"b":"say \"hi\"\n","a":null}"#);
        assert_eq!(compact_row(std::iter::empty()), "{}");
    }
}
