//! The http room.
