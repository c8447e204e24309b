//! Floor 6: the C ABI. The only module with `extern "C"`; thin: checks arguments, calls the core, maps errors.
