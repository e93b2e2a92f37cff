//! The machine as it is: host, cards, memory readings.
