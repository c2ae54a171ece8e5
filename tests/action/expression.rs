//! GitHub's expressions, as far as our action uses them; anything else is an error of the test.

use std::collections::BTreeMap;

/// Values by dotted name (`inputs.base`); what is not there is the empty text.
pub type Scope = BTreeMap<String, String>;

/// A text with its `${{ … }}` replaced.
pub fn interpolate(text: &str, scope: &Scope) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${{") {
        let (inner, tail) = after.split_once("}}").expect("an expression ends");
        out.push_str(before);
        out.push_str(&value(inner, scope));
        rest = tail;
    }
    out + rest
}

/// Whether a condition holds: `${{ … }}` or the bare expression.
pub fn holds(text: &str, scope: &Scope) -> bool {
    let inner = text.trim();
    let inner = inner.strip_prefix("${{").and_then(|inner| inner.strip_suffix("}}")).unwrap_or(inner);
    !matches!(value(inner, scope).as_str(), "" | "false" | "0")
}

fn value(text: &str, scope: &Scope) -> String {
    let mut reader = Reader { rest: text, scope };
    let value = reader.or();
    assert!(reader.rest.trim().is_empty(), "not understood: `{}` of `{text}`", reader.rest);
    value
}

struct Reader<'t> {
    rest: &'t str,
    scope: &'t Scope,
}

impl Reader<'_> {
    fn take(&mut self, sign: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn or(&mut self) -> String {
        let mut left = self.and();
        while self.take("||") {
            let right = self.and();
            left = if truthy(&left) { left } else { right };
        }
        left
    }

    fn and(&mut self) -> String {
        let mut left = self.compare();
        while self.take("&&") {
            let right = self.compare();
            left = if truthy(&left) { right } else { left };
        }
        left
    }

    fn compare(&mut self) -> String {
        let left = self.unary();
        // Texts are compared without regard to case.
        if self.take("==") {
            return left.eq_ignore_ascii_case(&self.unary()).to_string();
        }
        if self.take("!=") {
            return (!left.eq_ignore_ascii_case(&self.unary())).to_string();
        }
        left
    }

    fn unary(&mut self) -> String {
        if self.take("!") {
            return (!truthy(&self.unary())).to_string();
        }
        if self.take("(") {
            let inner = self.or();
            assert!(self.take(")"), "a parenthesis ends");
            return inner;
        }
        if self.take("'") {
            let (text, rest) = self.rest.split_once('\'').expect("a text ends");
            self.rest = rest;
            return text.to_owned();
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "._-".contains(c))).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        self.rest = rest;
        assert!(!name.is_empty(), "a name stands at `{rest}`");
        if self.take("(") {
            assert!(self.take(")"), "a function without arguments");
            return match name {
                "always" | "success" => "true".to_owned(),
                "failure" | "cancelled" => "false".to_owned(),
                _ => panic!("unknown function `{name}`"),
            };
        }
        match name {
            "true" | "false" => name.to_owned(),
            _ => {
                let context = name.split('.').next().unwrap_or_default();
                assert!(["inputs", "github", "runner", "steps"].contains(&context), "unknown name `{name}`");
                self.scope.get(name).cloned().unwrap_or_default()
            }
        }
    }
}

fn truthy(text: &str) -> bool {
    !matches!(text, "" | "false" | "0")
}

#[test]
fn expressions_are_evaluated() {
    let scope: Scope = [("inputs.cache".into(), "auto".into()), ("steps.a.outputs.x-y".into(), "true".into())].into();
    assert!(holds("${{ steps.a.outputs.x-y == 'true' && (inputs.cache == 'off' || inputs.cache == 'AUTO') }}", &scope));
    assert!(holds("inputs.nothing == '' && !inputs.nothing", &scope));
    assert!(!holds("inputs.cache != 'auto'", &scope));
    assert_eq!(interpolate("a-${{ inputs.cache }}-${{ inputs.none || 'b' }}", &scope), "a-auto-b");
}
