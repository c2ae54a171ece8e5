//! The built-in rules of redaction: what keys, tokens and passwords look like.
//!
//! Forms are those that their issuers document, gathered from the public rule sets of secret
//! scanners. Each rule names the part to take out by its first group, else takes all.

/// A rule: its name in the text that replaces a secret, the form, and what must hold besides.
pub struct Rule {
    pub name: &'static str,
    pub pattern: &'static str,
    pub check: Check,
}

/// What the matched part must have, where the form alone would take names too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    Nothing,
    /// A digit.
    Digit,
    /// A digit and a letter.
    DigitAndLetter,
}

const fn rule(name: &'static str, pattern: &'static str) -> Rule {
    Rule { name, pattern, check: Check::Nothing }
}

const fn checked(name: &'static str, check: Check, pattern: &'static str) -> Rule {
    Rule { name, pattern, check }
}

/// How keys begin that need not hold a digit; whatever has one and is long is looked at anyway.
pub const PREFIXES: &str = r"-----BEGIN|PuTTY-User|AGE-SECRET|A3T|AKIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ASIA|ABIA|ACCA|AIza|ya29\.|GOCSPX-|Q~|gh[pousr]_|github_pat_|gl[a-z]{2,5}-|ATBB|ATATT|xox[a-z]-|sk[-_]|rk_|pk_|whsec_|npm_|_authToken|pypi-|sq0|dckr_|hf_|SG\.|hv[bsr]\.|dp\.|gl(?:sa|c)_|sntry|lin_|ntn_|nfp_|HRKU|figd_|EAA|sl\.|eyJ|shp|webhook";

/// The rules, in order: the first that takes a part names it.
pub const RULES: &[Rule] = &[
    rule("private_key", r"-----BEGIN[ A-Z0-9]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END[ A-Z0-9]*-----|\z)"),
    rule("private_key", r"PuTTY-User-Key-File-[0-9](?s:.*)\z"),
    rule("private_key", r"AGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    rule("aws", r"(?-u:\b)(?:A3T[A-Z0-9]|AKIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)"),
    rule("aws", r"(?-u:\b)amzn\.mws\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    rule("gcp", r"AIza[0-9A-Za-z_\-]{35}"),
    rule("gcp", r"(?-u:\b)ya29\.[0-9A-Za-z_\-]{20,}"),
    rule("gcp", r"GOCSPX-[0-9A-Za-z_\-]{20,}"),
    rule("azure", r"(?i)(?:account|sharedaccess|access)key=([A-Za-z0-9+/=]{20,})"),
    rule("azure", r"(?i)[?&]sig=([A-Za-z0-9%+/=]{20,})"),
    rule("azure", r"[A-Za-z0-9_~.\-]{3}[0-9]Q~[A-Za-z0-9_~.\-]{31,34}"),
    rule("github", r"(?-u:\b)gh[pousr]_[A-Za-z0-9]{30,}"),
    rule("github", r"github_pat_[A-Za-z0-9_]{22,}"),
    rule("gitlab", r"(?-u:\b)gl(?:pat|dt|rt|ptt|ft|soat|cbt|imt|agent|oas|ffct|wt)-[0-9A-Za-z_\-]{20,}"),
    rule("bitbucket", r"(?-u:\b)ATBB[A-Za-z0-9]{28,}"),
    rule("atlassian", r"ATATT3[A-Za-z0-9_=\-]{40,}"),
    rule("slack", r"(?-u:\b)xox[abeoprs]-[0-9A-Za-z\-]{10,}"),
    rule("slack", r"(?-u:\b)xapp-[0-9]-[A-Z0-9]+-[0-9]+-[0-9a-z]{16,}"),
    rule("slack", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_+\-]{20,})"),
    rule("discord", r"discord(?:app)?\.com/api/webhooks/([0-9]{15,}/[A-Za-z0-9_\-]{40,})"),
    rule("discord", r"(?-u:\b)[MNO][A-Za-z0-9_\-]{23,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,}"),
    rule("teams", r"[a-z0-9]+\.webhook\.office\.com/(webhookb2/[A-Za-z0-9@/\-]{60,})"),
    rule("telegram", r"(?-u:\b)[0-9]{8,10}:AA[A-Za-z0-9_\-]{32,34}"),
    checked("stripe", Check::Digit, r"(?-u:\b)(?:sk|rk|pk)_(?:live|test|prod)_[0-9A-Za-z]{16,}"),
    checked("stripe", Check::Digit, r"(?-u:\b)whsec_[A-Za-z0-9+/=]{20,}"),
    rule("square", r"(?-u:\b)sq0[a-z]{3}-[0-9A-Za-z_\-]{22,}"),
    rule("paypal", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    rule("shopify", r"(?-u:\b)shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    rule("npm", r"(?-u:\b)npm_[A-Za-z0-9]{36}"),
    rule("npm", r"_authToken=([^\s$]{8,})"),
    rule("pypi", r"pypi-AgE[A-Za-z0-9_\-]{30,}"),
    rule("rubygems", r"rubygems_[0-9a-f]{48}"),
    rule("crates", r"(?-u:\b)cio[A-Za-z0-9]{32}(?-u:\b)"),
    rule("docker", r"dckr_pat_[A-Za-z0-9_\-]{20,}"),
    checked("openai", Check::DigitAndLetter, r"(?-u:\b)sk-(?:proj-|svcacct-|ant-|or-)?[A-Za-z0-9_\-]{20,}"),
    checked("huggingface", Check::DigitAndLetter, r"(?-u:\b)(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    rule("sendgrid", r"(?-u:\b)SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}"),
    rule("twilio", r"(?-u:\b)(?:SK|AC)[0-9a-f]{32}(?-u:\b)"),
    rule("mailgun", r"(?-u:\b)key-[0-9a-f]{32}(?-u:\b)"),
    rule("mailchimp", r"(?-u:\b)[0-9a-f]{32}-us[0-9]{1,2}(?-u:\b)"),
    rule("digitalocean", r"do[opr]_v1_[0-9a-f]{64}"),
    rule("databricks", r"(?-u:\b)dapi[0-9a-f]{32}"),
    rule("terraform", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=\-]{60,}"),
    rule("vault", r"(?-u:\b)hv[bsr]\.[A-Za-z0-9_\-]{20,}"),
    rule("doppler", r"(?-u:\b)dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.]{30,}"),
    rule("grafana", r"(?-u:\b)gl(?:sa|c)_[A-Za-z0-9+/=_]{30,}"),
    rule("newrelic", r"(?-u:\b)NRAK-[A-Z0-9]{27}"),
    rule("sentry", r"(?-u:\b)sntry[su]_[A-Za-z0-9_=+/]{30,}"),
    rule("postman", r"(?-u:\b)PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    rule("linear", r"(?-u:\b)lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    rule("notion", r"(?-u:\b)ntn_[A-Za-z0-9]{40,}"),
    rule("netlify", r"(?-u:\b)nfp_[A-Za-z0-9]{36,}"),
    rule("heroku", r"(?-u:\b)HRKU-[A-Za-z0-9_\-]{36,}"),
    rule("figma", r"(?-u:\b)figd_[A-Za-z0-9_\-]{38,}"),
    rule("airtable", r"(?-u:\b)pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    rule("facebook", r"(?-u:\b)EAA[MC][A-Za-z0-9]{60,}"),
    rule("dropbox", r"(?-u:\b)sl\.[A-Za-z0-9_\-]{60,}"),
    rule("jwt", r"(?-u:\b)eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*)?"),
    // user:password@host in any URL or DSN.
    rule("connection_string", r#"(?-u:\b)[A-Za-z][A-Za-z0-9+.\-]*://[^\s/:@"'`<>]*:([^\s/@"'`<>]+)@"#),
    rule("connection_string", r"(?i)(?-u:\b)(?:pwd|password)=([^\s;]{3,});"),
    checked("authorization", Check::Digit, r"(?i)(?-u:\b)(?:bearer|basic)\s+([A-Za-z0-9._~+/=\-]{16,})"),
    // A password or key given a quoted value.
    rule(
        "password",
        r#"(?i)[a-z0-9_\-.]*(?:passw(?:or)?d|passphrase|pass_?wd|(?-u:\b)pwd|db_?pass)[a-z0-9_\-.]*\\*["'`]?\]?\s*(?::\s*[a-z.]+\s*)?(?:=>|:=|=|:)\s*[bru]{0,2}\\*["'`]([^"'`\s]{4,})"#,
    ),
    checked(
        "credential",
        Check::DigitAndLetter,
        r#"(?i)[a-z0-9_\-.]*(?:secret|token|api[_\-]?key|apikey|access[_\-]?key|auth[_\-]?key|private[_\-]?key|signing[_\-]?key|encryption[_\-]?key|client[_\-]?key|credential|salt)[a-z0-9_\-.]*\\*["'`]?\]?\s*(?::\s*[a-z.]+\s*)?(?:=>|:=|=|:)\s*[bru]{0,2}\\*["'`]([^"'`\s]{8,})"#,
    ),
    // The same without quotes, as in docs and titles: only what has a digit and a letter.
    checked(
        "credential",
        Check::DigitAndLetter,
        r#"(?i)[a-z0-9_\-.]*(?:passw(?:or)?d|passphrase|(?-u:\b)pwd|secret|token|api[_\-]?key|apikey|access[_\-]?key)[a-z0-9_\-.]*\s*(?:=>|:=|=|:)\s*([^\s"'`,;()\[\]{}<>]{8,})"#,
    ),
];
