//! A server that Pilote starts below a guard, waits for, and ends with itself.

use std::time::Duration;

use pilote_spec::ServerLaunch;

use super::fault;
use super::wire::Wire;
use crate::EngineFault;
use crate::process::{Guarded, Surround};

/// How often a server that starts is asked whether it is ready.
const PROBE: Duration = Duration::from_millis(200);

/// Starts the server and waits until it is ready.
///
/// # Errors
/// When something else answers in its place already, when it ends, or is not ready in the declared time.
pub(super) fn start(launch: &ServerLaunch, wire: &Wire, around: &Surround) -> Result<Guarded, EngineFault> {
    let ready = launch.ready.clone().unwrap_or_else(|| wire.models_address());
    if wire.answers(&ready) {
        let words = format!("{ready} answers before the server was started: another one runs there");
        let advice = "stop it, choose another port, or take `launch` out to use it".to_owned();
        return Err(EngineFault { advice: Some(advice), ..fault("start server", &words) });
    }
    let program = around.launch(&launch.command, &launch.environment, &launch.pass, &launch.devices);
    // The server has no use for the channel; it closes with this process, which is how the guard learns of its end.
    let (mut server, to, from) = Guarded::spawn(&around.guard, &program)
        .map_err(|error| fault("start server", &format!("the guard cannot be started: {error}")))?;
    server.hold_channel(to, from);
    let started = around.clock.monotonic();
    let ready_max = Duration::from_secs(u64::from(launch.ready_seconds_max));
    loop {
        let words = |server: &Guarded| server.log().first_error().unwrap_or_default();
        if let Ok(Some(status)) = server.wait(0) {
            return Err(fault(
                "start server",
                &format!("{} (the server ended with {status})", words(&server)),
            ));
        }
        if wire.answers(&ready) {
            return Ok(server);
        }
        if around.clock.monotonic().saturating_sub(started) > ready_max {
            let seconds = ready_max.as_secs();
            let words = format!("{} (no answer of {ready} within {seconds} s)", words(&server));
            return Err(fault("start server", &words));
        }
        around.clock.wait(PROBE);
    }
}
