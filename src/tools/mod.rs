//! The bay of tools: what one must be (`tool`), the ones, and the lists.

pub mod callees;
pub mod callers;
pub mod compare_scip;
pub mod compare_text;
pub mod complete;
pub mod find_symbol;
pub mod get_context;
pub mod get_symbol;
pub mod impact_of;
pub mod implicit;
pub mod index_status;
pub mod links;
pub mod listing;
pub mod meter;
pub mod overview;
pub mod param;
pub mod past;
pub mod queries;
pub mod ranked;
pub mod repo_map;
pub mod retained;
pub mod scip_export;
pub mod shapes;
pub mod sheet;
pub mod show;
pub mod suggest;
pub mod target;
pub mod target_text;
pub mod tool;
pub mod verdict;
pub mod why;

use crate::tools::tool::Tool;

/// The tools that clients see, in the order they are listed.
pub fn all() -> &'static [Tool] {
    const TOOLS: &[Tool] = &[
        get_context::TOOL,
        repo_map::TOOL,
        find_symbol::TOOL,
        get_symbol::TOOL,
        callers::TOOL,
        callees::TOOL,
        impact_of::TOOL,
        index_status::TOOL,
    ];
    TOOLS
}

/// Every tool that answers from the repository alone, those of commands only too, by name.
pub fn named(name: &str) -> Option<&'static Tool> {
    const OF_COMMANDS: &[Tool] =
        &[queries::SPAN, queries::OUTLINE, queries::REFS, queries::DEPS, queries::NEIGHBORHOOD];
    all().iter().chain(OF_COMMANDS).find(|tool| tool.name == name)
}
