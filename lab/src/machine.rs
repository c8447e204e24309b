//! The state of the machine, for rows of times.

use std::fs;

use crate::row::Row;

/// A time depends on this state as well as on the program. A value that the system does not tell is left out.
pub struct Machine {
    threads: usize,
    /// Mean number of running threads over the last minute.
    load: Option<f64>,
    /// Mean present frequency of the processors, MHz.
    frequency: Option<f64>,
}

impl Machine {
    /// Reads the present state: best before the measurement, which is a load too.
    pub fn now() -> Self {
        let load = fs::read_to_string("/proc/loadavg").ok();
        let load = load.and_then(|text| text.split_whitespace().next()?.parse().ok());
        let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let frequencies = processors.lines().filter(|line| line.starts_with("cpu MHz"));
        let frequencies: Vec<f64> =
            frequencies.filter_map(|line| line.split(':').nth(1)?.trim().parse().ok()).collect();
        let count = frequencies.len();
        let frequency = (count > 0).then(|| frequencies.iter().sum::<f64>() / count as f64);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads, load, frequency }
    }

    /// Adds the state to a row.
    pub fn told(&self, row: Row) -> Row {
        let mut row = row.with("machine_threads", self.threads);
        let known = [("machine_load", self.load), ("machine_mhz", self.frequency)];
        known.into_iter().filter_map(|(key, value)| Some((key, value?))).for_each(|(key, value)| row.put(key, value));
        row
    }
}
