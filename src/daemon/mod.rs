//! One warm session for many clients: a process that answers tools over a local socket.
//!
//! A convenience, never a need: a client that finds no daemon, one of another build or under
//! another configuration, or one that dies while it is asked, answers by itself, and the same.
//! `place` says where the socket is, `wire` what goes over it, `server` and `client` are its ends.

pub mod client;
pub mod place;
pub mod server;
pub mod wire;
