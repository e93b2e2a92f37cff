//! An OpenAI-compatible server as the engine: bounded requests under way, three budgets that are never confused.
//!
//! The attempts of an item are spent only by what fails on that very request. Being told to slow down, and an
//! endpoint that is down, cost it nothing; the second is bounded by how long every endpoint may be down. Access and
//! payment stop at once, with the items pending. Requests run on threads of their own that share one queue.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use pilote_spec::{
    BatchMeasures, Clock, EngineFacts, OpenAi, OutputSpec, Reason, Refusal, ServerTask, WorkReason,
};

use crate::process::{Guarded, Surround};
use crate::{
    Answer, Batch, BatchId, Content, Engine, EngineFault, Event, NO_ACCESS, NOT_BEGUN, Request, Stop,
};

mod body;
mod health;
mod launch;
mod policy;
mod wire;

use body::Fill;
use health::{Health, Turn};
use policy::{Chance, Next};
use wire::Wire;

/// Texts of one request for vectors, at the most.
const EMBED_ITEMS_MAX: usize = 32;
/// Bytes of text of one request for vectors, at the most; a longer text goes alone.
const EMBED_BYTES_MAX: usize = 256 * 1024;
/// The longest wait before a thread looks again whether it is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// A server that is asked over HTTP.
pub struct ServerEngine {
    facts: EngineFacts,
    shared: Arc<Shared>,
    events: Receiver<Event>,
    threads: Vec<JoinHandle<()>>,
    in_flight_max: usize,
    per_request: usize,
    /// The server, where Pilote started it. Last, so that it ends after the requests.
    server: Option<Guarded>,
}

/// What the request threads share.
struct Shared {
    config: OpenAi,
    output: OutputSpec,
    wire: Wire,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    work: Condvar,
    events: Sender<Event>,
}

struct State {
    queue: VecDeque<Ask>,
    health: Health,
    chance: Chance,
    batches: HashMap<BatchId, Open>,
    ending: bool,
    /// Requests that were made and did not end yet.
    under_way: usize,
    /// Since when nothing more is asked, because the trial stops.
    held: Option<Duration>,
    /// Set when nobody will be served any more; every batch fails with it.
    paused: Option<EngineFault>,
}

/// A batch with requests that are not done.
struct Open {
    left: usize,
    began: Duration,
    failed: Option<EngineFault>,
}

/// One request to be made: one text, or several where vectors are asked for.
struct Ask {
    batch: BatchId,
    requests: Vec<Request>,
    attempt: u32,
    /// When it was asked first.
    began: Option<Duration>,
    not_before: Duration,
    avoid: Option<usize>,
    /// Answers of the endpoints before the first attempt.
    answered_before: u64,
}

/// What a request came to.
enum Came {
    Answers(Vec<(Request, Answer)>),
    /// Ask for each of the texts alone.
    Apart,
    Again(String),
    /// Ask again after this wait, which costs nothing, for this reason.
    Later(Duration, String),
    Failed(EngineFault),
}

impl ServerEngine {
    /// Makes the engine, starts the server where that is declared, and asks the first endpoint for its models. `seed`
    /// spreads the waits; any number does.
    ///
    /// # Errors
    /// When the access key is not set, or the server does not start or answer.
    pub fn start(
        config: &OpenAi,
        output: &OutputSpec,
        around: &Surround,
        seed: u64,
    ) -> Result<Self, EngineFault> {
        let key = match &config.key {
            None => None,
            Some(name) => Some(
                around.environment.get(name).filter(|key| !key.is_empty()).cloned().ok_or_else(|| {
                    fault("start", &format!("the variable {name}, which holds the access key, is not set"))
                })?,
            ),
        };
        let request_max = Duration::from_secs(u64::from(config.request_seconds_max));
        let wire = Wire::new(&config.endpoints, key, request_max);
        let server = config.launch.as_ref().map(|launch| launch::start(launch, &wire, around)).transpose()?;
        let version = wire.models(0).map_err(|why| fault("start", &why))?;
        let (events_out, events) = channel();
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                queue: VecDeque::new(),
                health: Health::new(config.endpoints.len()),
                chance: Chance(seed),
                batches: HashMap::new(),
                ending: false,
                under_way: 0,
                held: None,
                paused: None,
            }),
            config: config.clone(),
            output: output.clone(),
            wire,
            clock: Arc::clone(&around.clock),
            work: Condvar::new(),
            events: events_out,
        });
        let concurrency = usize::try_from(config.concurrency.max(1)).unwrap_or(1);
        let threads = (0..concurrency)
            .map(|number| {
                let shared = Arc::clone(&shared);
                std::thread::Builder::new().name(format!("request {number}")).spawn(move || shared.serve())
            })
            .collect::<Result<_, _>>()
            .map_err(|error| fault("start", &format!("no thread can be started: {error}")))?;
        let per_request = if config.task == ServerTask::Embedding { EMBED_ITEMS_MAX } else { 1 };
        let batch_requests = usize::try_from(config.batch_items).unwrap_or(1).div_ceil(per_request).max(1);
        Ok(Self {
            facts: facts(config, version),
            shared,
            events,
            threads,
            in_flight_max: 1 + concurrency.div_ceil(batch_requests),
            per_request,
            server,
        })
    }
}

impl Engine for ServerEngine {
    fn facts(&self) -> &EngineFacts {
        &self.facts
    }

    fn in_flight_max(&self) -> usize {
        self.in_flight_max
    }

    fn submit(&mut self, batch: Batch) -> Result<(), EngineFault> {
        let mut state = self.shared.lock();
        if let Some(fault) = &state.paused {
            return Err(fault.clone());
        }
        let bytes_max = usize::try_from(self.shared.config.request_bytes_max).unwrap_or(usize::MAX);
        let (long, fitting): (Vec<_>, Vec<_>) =
            batch.requests.into_iter().partition(|request| text(request).len() > bytes_max);
        let task = self.shared.config.task;
        let (odd, fitting): (Vec<_>, Vec<_>) = fitting
            .into_iter()
            .partition(|request| request.body && body::fault(task, text(request)).is_some());
        let groups = groups(fitting, self.per_request, bytes_max.min(EMBED_BYTES_MAX));
        let (answered_before, now) = (state.health.answered_count(), self.shared.clock.monotonic());
        let refused = usize::from(!long.is_empty()) + usize::from(!odd.is_empty());
        let left = groups.len() + refused;
        state.batches.insert(batch.id, Open { left, began: now, failed: None });
        if !long.is_empty() {
            for request in long {
                let refusal = Refusal::new(Reason::Work(WorkReason::TooLong))
                    .with("limit", format!("{bytes_max} bytes"))
                    .with("seen", format!("{} bytes", text(&request).len()));
                let answer = Answer::Refused(refusal);
                let _ = self.shared.events.send(Event::Answer { wire: request.wire, answer });
            }
            self.shared.done(&mut state, batch.id, None, now);
        }
        if !odd.is_empty() {
            for request in odd {
                let why = body::fault(task, text(&request)).unwrap_or_default();
                let refusal = Refusal::new(Reason::Work(WorkReason::ByEngine)).with("detail", why);
                let answer = Answer::Refused(refusal);
                let _ = self.shared.events.send(Event::Answer { wire: request.wire, answer });
            }
            self.shared.done(&mut state, batch.id, None, now);
        }
        state.queue.extend(groups.into_iter().map(|requests| Ask {
            batch: batch.id,
            requests,
            attempt: 1,
            began: None,
            not_before: Duration::ZERO,
            avoid: None,
            answered_before,
        }));
        self.shared.work.notify_all();
        Ok(())
    }

    fn poll(&mut self, wait: Duration) -> Result<Vec<Event>, EngineFault> {
        let mut events = Vec::new();
        match self.events.recv_timeout(wait) {
            Ok(event) => events.push(event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(fault("compute", "the request threads are gone"));
            }
        }
        self.shared.abandon_late();
        events.extend(self.events.try_iter());
        if events.is_empty()
            && let Some(server) = &mut self.server
            && let Ok(Some(status)) = server.wait(0)
        {
            let words = server.log().first_error().unwrap_or_default();
            return Err(fault("compute", &format!("{words} (the server ended with {status})")));
        }
        Ok(events)
    }

    fn hold(&mut self) {
        let mut state = self.shared.lock();
        let now = self.shared.clock.monotonic();
        state.held = Some(now);
        for ask in std::mem::take(&mut state.queue) {
            self.shared.done(&mut state, ask.batch, Some(not_asked()), now);
        }
    }

    fn stop(&mut self, how: Stop) -> Result<(), EngineFault> {
        let awaited = {
            let mut state = self.shared.lock();
            state.ending = true;
            if how == Stop::Now {
                state.queue.clear();
            }
            self.shared.work.notify_all();
            // A request that nobody waits for any more ends with this process, or with the server.
            state.under_way == 0 || state.held.is_none()
        };
        if how == Stop::Orderly && awaited {
            for thread in self.threads.drain(..) {
                let _ = thread.join();
            }
        }
        Ok(())
    }
}

impl Drop for ServerEngine {
    fn drop(&mut self) {
        let _ = self.stop(Stop::Now);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes requests from the queue until the engine ends; for a thread of its own.
    fn serve(&self) {
        while let Some((ask, endpoint)) = self.take() {
            let came = self.ask(&ask, endpoint);
            self.settle(ask, endpoint, came);
        }
    }

    /// The next request whose time has come, and where it goes.
    fn take(&self) -> Option<(Ask, usize)> {
        let mut state = self.lock();
        loop {
            if state.ending && state.queue.is_empty() {
                return None;
            }
            let now = self.clock.monotonic();
            let mut wait = LOOK;
            if let Some(place) = state.queue.iter().position(|ask| ask.not_before <= now) {
                match state.health.turn(now, state.queue[place].avoid) {
                    Turn::Now(endpoint) => {
                        if let Some(mut ask) = state.queue.remove(place) {
                            state.health.began(endpoint);
                            state.under_way += 1;
                            ask.began.get_or_insert(now);
                            return Some((ask, endpoint));
                        }
                    }
                    Turn::NotBefore(time) => wait = wait.min(time.saturating_sub(now)),
                }
            }
            let waited = self.work.wait_timeout(state, wait.max(Duration::from_millis(1)));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Makes one request and says what it came to; the endpoint's health is noted on the way.
    fn ask(&self, ask: &Ask, endpoint: usize) -> Came {
        let Some(request) = ask.requests.first() else { return Came::Answers(Vec::new()) };
        let body = if request.body {
            text(request).to_owned()
        } else if self.config.task == ServerTask::Embedding {
            let texts: Vec<&str> = ask.requests.iter().map(text).collect();
            body::embedding(&self.config, &texts).to_string()
        } else {
            let id = request.id.as_deref().unwrap_or_default();
            let fill = Fill { text: text(request), id, columns: &request.columns };
            body::generation(&self.config, &self.output, &fill).to_string()
        };
        let reply = self.wire.post(endpoint, body::path(self.config.task), body);
        let (now, wall) = (self.clock.monotonic(), self.clock.wall());
        let mut state = self.lock();
        let chance = state.chance.draw();
        let next = policy::next(&reply, wall, chance);
        match &next {
            Next::Read | Next::RefuseItem(_) | Next::Pause(_) => state.health.answered(endpoint),
            Next::SlowDown { asked, .. } => state.health.slowed(endpoint, now + *asked),
            Next::EndpointDown(_) | Next::AttemptFailed(_) => state.health.failed(endpoint, now),
        }
        let down_max = Duration::from_secs(u64::from(self.config.down_seconds_max));
        let down = state.health.down_for(now) > down_max;
        drop(state);
        match (next, reply) {
            (Next::Read, policy::Reply::Http { body, .. }) => self.read(ask, &body),
            (Next::SlowDown { spread, .. }, _) => Came::Later(spread, "asked to slow down".to_owned()),
            (Next::RefuseItem(why), _) => refused(ask, WorkReason::ByEngine, &why),
            (Next::Pause(why), _) => Came::Failed(fault(NO_ACCESS, &why)),
            (Next::EndpointDown(why), _) if down => {
                let seconds = down_max.as_secs();
                Came::Failed(fault("compute", &format!("no endpoint has answered for {seconds} s: {why}")))
            }
            (Next::EndpointDown(why), _) => Came::Later(Duration::ZERO, why),
            (Next::AttemptFailed(why), _) => Came::Again(why),
            (Next::Read, _) => Came::Again("a reply without a body".to_owned()),
        }
    }

    fn read(&self, ask: &Ask, body: &[u8]) -> Came {
        if self.config.task != ServerTask::Embedding {
            let parameters = match ask.requests.first() {
                Some(request) if request.body => body::parameters(text(request)),
                _ => self
                    .config
                    .parameters
                    .iter()
                    .map(|(name, value)| (name.clone(), value.clone().into()))
                    .collect(),
            };
            return match body::read_generation(parameters, &self.output, body) {
                Ok(answer) => {
                    Came::Answers(ask.requests.iter().cloned().map(|one| (one, answer.clone())).collect())
                }
                Err(why) => Came::Again(why),
            };
        }
        match body::read_embedding(ask.requests.len(), body) {
            Ok(vectors) if vectors.iter().all(Option::is_some) => {
                let answers = ask.requests.iter().cloned().zip(vectors);
                Came::Answers(
                    answers.filter_map(|(one, output)| Some((one, Answer::Output(output?)))).collect(),
                )
            }
            Ok(_) if ask.requests.len() == 1 => Came::Again("the reply has no vector".to_owned()),
            Ok(_) | Err(_) if ask.requests.len() > 1 => Came::Apart,
            Ok(_) => Came::Again("the reply has no vector".to_owned()),
            Err(why) => Came::Again(why),
        }
    }

    /// Puts the request back, or answers for it and finishes its batch with the last one.
    fn settle(&self, ask: Ask, endpoint: usize, came: Came) {
        let mut state = self.lock();
        state.under_way -= 1;
        let now = self.clock.monotonic();
        match came {
            Came::Later(wait, why) => {
                let later = Ask { avoid: Some(endpoint), not_before: now + wait, ..ask };
                self.put_back(&mut state, later, now, &why);
            }
            Came::Apart => self.ask_apart(&mut state, ask, now),
            Came::Again(why) => self.again(&mut state, ask, endpoint, now, &why),
            Came::Answers(answers) => {
                // A batch that failed as a whole meanwhile is asked again: an answer would come too late for it.
                let open = state.batches.contains_key(&ask.batch);
                for (request, answer) in answers.into_iter().filter(|_| open) {
                    let _ = self.events.send(Event::Answer { wire: request.wire, answer });
                }
                self.done(&mut state, ask.batch, None, now);
            }
            Came::Failed(fault) => self.fail_all(&mut state, &fault),
        }
        drop(state);
        self.work.notify_all();
    }

    /// Nobody will be served any more: everything that is open fails with `fault`.
    fn fail_all(&self, state: &mut State, fault: &EngineFault) {
        state.queue.clear();
        state.paused = Some(fault.clone());
        for (batch, _) in std::mem::take(&mut state.batches) {
            let _ = self.events.send(Event::Failed { batch, fault: fault.clone() });
        }
    }

    /// Puts a request back into the queue; nothing is asked any more once the trial stops, and an item that took too
    /// long in all stops it.
    fn put_back(&self, state: &mut State, ask: Ask, now: Duration, why: &str) {
        let item_max = Duration::from_secs(u64::from(self.config.item_seconds_max));
        if state.held.is_some() {
            self.done(state, ask.batch, Some(not_asked()), now);
        } else if ask.began.is_some_and(|began| ask.not_before.max(now).saturating_sub(began) > item_max) {
            let seconds = item_max.as_secs();
            self.fail_all(
                state,
                &fault("compute", &format!("an item has no answer after {seconds} s: {why}")),
            );
        } else {
            state.queue.push_back(ask);
        }
    }

    /// Asks for each item of a request alone.
    fn ask_apart(&self, state: &mut State, ask: Ask, now: Duration) {
        let Ask { batch, requests, began, answered_before, .. } = ask;
        if let Some(open) = state.batches.get_mut(&batch) {
            open.left += requests.len() - 1;
        }
        for one in requests {
            let requests = vec![one];
            let alone =
                Ask { batch, requests, attempt: 1, began, not_before: now, avoid: None, answered_before };
            self.put_back(state, alone, now, "several were asked for together");
        }
    }

    /// Once the trial stops, what is under way is awaited for a declared time and then left alone, its items pending.
    fn abandon_late(&self) {
        let mut state = self.lock();
        let stop_max = Duration::from_secs(u64::from(self.config.stop_seconds_max));
        let since = |held| self.clock.monotonic().saturating_sub(held);
        if state.held.is_none_or(|held| since(held) <= stop_max) {
            return;
        }
        for (batch, _) in std::mem::take(&mut state.batches) {
            let words = format!("no answer within {} s of the stop", stop_max.as_secs());
            let fault = EngineFault { ended: false, ..fault(NOT_BEGUN, &words) };
            let _ = self.events.send(Event::Failed { batch, fault });
        }
    }

    /// Another attempt, or the end of them: the item is refused where the server answered others meanwhile, and
    /// stays pending where it answered nobody.
    fn again(&self, state: &mut State, ask: Ask, endpoint: usize, now: Duration, why: &str) {
        if ask.attempt < self.config.attempts_max {
            let wait = policy::backoff(ask.attempt, state.chance.draw());
            let attempt = ask.attempt + 1;
            let again = Ask { attempt, not_before: now + wait, avoid: Some(endpoint), ..ask };
            self.put_back(state, again, now, why);
        } else if ask.requests.len() > 1 {
            self.ask_apart(state, ask, now);
        } else if state.health.answered_count() > ask.answered_before {
            for request in ask.requests {
                let refusal = Refusal::new(Reason::Work(WorkReason::Poison)).with("detail", why);
                let _ =
                    self.events.send(Event::Answer { wire: request.wire, answer: Answer::Refused(refusal) });
            }
            self.done(state, ask.batch, None, now);
        } else {
            let fault = EngineFault { ended: false, ..fault("compute", why) };
            self.done(state, ask.batch, Some(fault), now);
        }
    }

    /// One request of the batch is settled; with the last one the batch is.
    fn done(&self, state: &mut State, batch: BatchId, failed: Option<EngineFault>, now: Duration) {
        let Some(open) = state.batches.get_mut(&batch) else { return };
        open.left -= 1;
        if open.failed.is_none() {
            open.failed = failed;
        }
        if open.left > 0 {
            return;
        }
        let Some(Open { began, failed, .. }) = state.batches.remove(&batch) else { return };
        let took = u64::try_from(now.saturating_sub(began).as_micros()).ok();
        let measures = BatchMeasures { compute_us: took, ..BatchMeasures::default() };
        let _ = self.events.send(match failed {
            Some(fault) => Event::Failed { batch, fault },
            None => Event::Finished { batch, measures },
        });
    }
}

/// Cuts a batch into requests by count and bytes.
fn groups(requests: Vec<Request>, per_request: usize, bytes_max: usize) -> Vec<Vec<Request>> {
    let mut groups: Vec<Vec<Request>> = Vec::new();
    let mut bytes = 0;
    for request in requests {
        let length = text(&request).len();
        match groups.last_mut() {
            // A body of its own is a request of its own.
            Some(group)
                if group.len() < per_request
                    && bytes + length <= bytes_max
                    && !request.body
                    && group.iter().all(|one| !one.body) =>
            {
                bytes += length;
                group.push(request);
            }
            _ => {
                bytes = length;
                groups.push(vec![request]);
            }
        }
    }
    groups
}

fn text(request: &Request) -> &str {
    match &request.content {
        Content::Text(text) => text,
        Content::File(_) => "",
    }
}

fn refused(ask: &Ask, reason: WorkReason, why: &str) -> Came {
    if ask.requests.len() > 1 {
        return Came::Apart;
    }
    let refusal = Refusal::new(Reason::Work(reason)).with("detail", why);
    Came::Answers(ask.requests.iter().cloned().map(|one| (one, Answer::Refused(refusal.clone()))).collect())
}

fn facts(config: &OpenAi, version: BTreeMap<String, String>) -> EngineFacts {
    let mut parameters: BTreeMap<String, String> =
        config.parameters.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
    parameters.extend(version);
    parameters.insert("model".to_owned(), config.model.clone());
    parameters.insert("endpoints".to_owned(), config.endpoints.join(" "));
    if let Some(launch) = &config.launch {
        parameters
            .insert("launch.command".to_owned(), serde_json::Value::from(launch.command.clone()).to_string());
        if !launch.devices.is_empty() {
            parameters.insert("launch.devices".to_owned(), launch.devices.join(" "));
        }
    }
    for (number, message) in config.prompt.iter().enumerate() {
        parameters.insert(format!("prompt.{number}.{}", message.role), message.content.clone());
    }
    EngineFacts {
        kind: "openai".to_owned(),
        name: "OpenAI-compatible server".to_owned(),
        version: String::new(),
        device: "unknown".to_owned(),
        precision: "unknown".to_owned(),
        model: None,
        longest_tokens: None,
        parameters,
    }
}

fn not_asked() -> EngineFault {
    EngineFault { ended: false, ..fault(NOT_BEGUN, "not asked, since the trial stops") }
}

fn fault(step: &str, first_error: &str) -> EngineFault {
    EngineFault { step: step.to_owned(), first_error: first_error.to_owned(), advice: None, ended: true }
}
