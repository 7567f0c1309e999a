//! Tests of the server.

mod drive_faults;
mod drive_replay;
mod drive_session;
mod drive_thread;
mod handshake;
mod hostile_input;
mod live_suspension;
mod live_view;
mod requests;
mod server;
mod slow_clients;
mod store;
mod volatile_cuts;
