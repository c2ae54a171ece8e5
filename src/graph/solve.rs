//! Which code answers which query.

use std::sync::Arc;

use crate::graph::queries::{Answer, Query, Session};

/// Evaluates one query; what it asks in turn goes through the session.
pub fn solve(session: &mut Session<'_, '_>, query: Query) -> Answer {
    match query {
        Query::Export(file, text) => Answer::Denoted(session.solve_export(file, text)),
        Query::Global(file, text) => Answer::Denoted(session.solve_global(file, text)),
        Query::Import(file, row) => Answer::Denoted(session.solve_import(file, row)),
        Query::Symbol(at) => Answer::Values(session.solve_symbol(at)),
        Query::Binding(file, row) => Answer::Values(session.solve_binding(file, row)),
        Query::Param(file, row) => Answer::Values(session.solve_param(file, row)),
        Query::Declared(file, row) => Answer::Values(session.solve_declared(file, row)),
        Query::Filled(file, row) => Answer::Values(session.solve_filled(file, row)),
        Query::Expected(file, call, position) => Answer::Values(session.expected_operand(file, call, position)),
        Query::Returns(at) => Answer::Values(session.solve_returns(at)),
        Query::Lambda(file, scope) => Answer::Values(session.solve_lambda(file, scope)),
        Query::Alias(at) => Answer::Values(session.solve_alias(at)),
        Query::Bases(at) => Answer::Bases(session.solve_bases(at)),
        Query::Mro(at) => Answer::Bases(session.solve_mro(at)),
        Query::This(at) => Answer::Values(session.solve_this(at)),
        Query::Member(class, text, from) => {
            Answer::Member(Arc::new(session.find_along_mro(class, text, from as usize)))
        }
        Query::Types(at) => Answer::Types(session.solve_types(at)),
    }
}
