//! Runs trials: a pure reducer and the shell that does its effects.
