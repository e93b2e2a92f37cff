//! The endpoints: which one takes the next request, which is to be left alone for a while, and when all of them have
//! been down for too long. Pure; time is an argument.

use std::time::Duration;

/// Failures in a row after which an endpoint is set aside.
const FAILURES_MAX: u32 = 3;
/// How long it is set aside before one request tries it again.
const ASIDE: Duration = Duration::from_secs(10);

/// An endpoint's state.
#[derive(Debug, Clone, Default)]
struct Endpoint {
    under_way: u32,
    failures_in_a_row: u32,
    /// Nothing is sent before this time.
    not_before: Duration,
    answered: u64,
}

/// All endpoints of one engine.
#[derive(Debug, Clone)]
pub(super) struct Health {
    endpoints: Vec<Endpoint>,
    /// Since when no endpoint has answered anything; none while they do.
    down_since: Option<Duration>,
}

/// Where the next request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// To this endpoint, now.
    Now(usize),
    /// To none before this time.
    NotBefore(Duration),
}

impl Health {
    pub(super) fn new(count: usize) -> Self {
        Self { endpoints: vec![Endpoint::default(); count], down_since: None }
    }

    /// The endpoint that is free to be asked and has the least under way; after a failure `avoid` is asked only
    /// where there is no other.
    pub(super) fn turn(&self, now: Duration, avoid: Option<usize>) -> Turn {
        let free = || (0..self.endpoints.len()).filter(|index| self.endpoints[*index].not_before <= now);
        let least = |index: &usize| (Some(*index) == avoid, self.endpoints[*index].under_way);
        match free().min_by_key(least) {
            Some(index) => Turn::Now(index),
            None => {
                let first = self.endpoints.iter().map(|endpoint| endpoint.not_before).min();
                Turn::NotBefore(first.unwrap_or(now))
            }
        }
    }

    pub(super) fn began(&mut self, index: usize) {
        self.endpoints[index].under_way += 1;
    }

    /// The endpoint answered, whatever it said.
    pub(super) fn answered(&mut self, index: usize) {
        let endpoint = &mut self.endpoints[index];
        endpoint.under_way = endpoint.under_way.saturating_sub(1);
        endpoint.failures_in_a_row = 0;
        endpoint.answered += 1;
        self.down_since = None;
    }

    /// The endpoint asks to be left alone until `until`; it is alive.
    pub(super) fn slowed(&mut self, index: usize, until: Duration) {
        self.answered(index);
        let endpoint = &mut self.endpoints[index];
        endpoint.answered -= 1;
        endpoint.not_before = endpoint.not_before.max(until);
    }

    /// A request to the endpoint failed.
    pub(super) fn failed(&mut self, index: usize, now: Duration) {
        let endpoint = &mut self.endpoints[index];
        endpoint.under_way = endpoint.under_way.saturating_sub(1);
        endpoint.failures_in_a_row += 1;
        if endpoint.failures_in_a_row >= FAILURES_MAX {
            endpoint.not_before = now + ASIDE;
        }
        if self.endpoints.iter().all(|endpoint| endpoint.failures_in_a_row > 0) {
            self.down_since.get_or_insert(now);
        }
    }

    /// How long every endpoint has been down.
    pub(super) fn down_for(&self, now: Duration) -> Duration {
        self.down_since.map_or(Duration::ZERO, |since| now.saturating_sub(since))
    }

    /// Requests that the endpoints answered so far: tells a poison item from a dead server.
    pub(super) fn answered_count(&self) -> u64 {
        self.endpoints.iter().map(|endpoint| endpoint.answered).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn requests_go_where_the_least_is_under_way() {
        let mut health = Health::new(2);
        health.began(0);
        assert_eq!(health.turn(S(0), None), Turn::Now(1));
        health.began(1);
        health.began(1);
        assert_eq!(health.turn(S(0), None), Turn::Now(0));
    }

    #[test]
    fn an_attempt_leaves_the_endpoint_that_failed_it_while_there_is_another() {
        let mut health = Health::new(2);
        health.began(0);
        health.failed(0, S(1));
        assert_eq!(health.turn(S(1), Some(0)), Turn::Now(1));
        assert_eq!(Health::new(1).turn(S(0), Some(0)), Turn::Now(0));
    }

    #[test]
    fn a_dead_endpoint_is_set_aside_and_tried_again_later() {
        let mut health = Health::new(2);
        for second in 0..3 {
            health.began(0);
            health.failed(0, S(second));
        }
        for _ in 0..5 {
            health.began(1);
            assert_eq!(health.turn(S(3), None), Turn::Now(1));
        }
        assert_eq!(health.turn(S(12), None), Turn::Now(0));
        assert_eq!(health.down_for(S(12)), S(0), "one endpoint never failed");
    }

    #[test]
    fn the_time_without_any_answer_is_counted_from_the_first_failure_of_all() {
        let mut health = Health::new(1);
        health.began(0);
        health.failed(0, S(5));
        assert_eq!(health.down_for(S(65)), S(60));
        health.began(0);
        health.answered(0);
        assert_eq!(health.down_for(S(70)), S(0));
    }

    #[test]
    fn an_endpoint_that_asks_for_slower_requests_gets_none_until_then() {
        let mut health = Health::new(1);
        health.began(0);
        health.slowed(0, S(30));
        assert_eq!(health.turn(S(2), None), Turn::NotBefore(S(30)));
        assert_eq!(health.down_for(S(2)), S(0));
        assert_eq!(health.answered_count(), 0);
    }
}
