//! The bay of formats: what every answer passes on its way out (sanitizing, text, JSON, tokens, budgets).

pub mod json;
pub mod pack;
mod pieces;
pub mod sanitize;
pub mod text;
pub mod tokens;
pub mod vocabulary;
