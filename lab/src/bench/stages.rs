//! Measures the time of each stage of cooking, as progress reports name them.

use std::sync::{Mutex, PoisonError};

use cpu_time::ThreadTime;
use serde_json::{Map, Value};
use voxshell::math::Progress;
use voxshell::Result;

use voxshell_lab::clock::on;

fn now() -> f64 {
    ThreadTime::now().as_duration().as_secs_f64()
}

/// Returns the seconds of each stage on one thread; time before the first stage is called `preparation`.
pub fn of<T: Send>(cook: impl Fn(&Progress) -> Result<T> + Sync) -> Result<Value> {
    on(1, || {
        let stages: Mutex<(Map<String, Value>, String, f64)> = Mutex::new((Map::new(), "preparation".into(), now()));
        let next = |stage: &str| {
            let mut held = stages.lock().unwrap_or_else(PoisonError::into_inner);
            let (seconds, last, since) = &mut *held;
            let time = now();
            let spent = seconds.get(last).and_then(Value::as_f64).unwrap_or(0.0) + (time - *since);
            seconds.insert(std::mem::replace(last, stage.into()), spent.into());
            *since = time;
        };
        let report = |stage: &str, _: f64| {
            next(stage);
            true
        };
        cook(&Progress::new(&report))?;
        next("");
        Ok(Value::Object(stages.into_inner().unwrap_or_else(PoisonError::into_inner).0))
    })?
}
