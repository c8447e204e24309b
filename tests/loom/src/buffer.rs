//! The triple buffer: the reader sees whole values, none twice as new and none older than the one before, and the last.

use loom::thread;

macro_rules! copy {
    ($module:ident) => {
        #[allow(dead_code)]
        mod $module {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($module), ".rs"));
        }
    };
}
copy!(triple_buffer);
copy!(publish_without_release);
copy!(take_without_acquire);

/// The writer publishes 1 to `$last` beside `$takes` updates of the reader.
macro_rules! exchange {
    ($module:ident, $last:expr, $takes:expr) => {
        crate::sync::model(|| {
            let (mut writer, mut reader) = $module::channel(|| [0u32; 2]);
            let thread = thread::spawn(move || {
                for n in 1..=$last {
                    *writer.slot() = [n; 2];
                    writer.publish();
                }
            });
            let mut seen = 0;
            for _ in 0..$takes {
                if reader.update() {
                    let [a, b] = *reader.get();
                    assert_eq!(a, b, "a torn value");
                    assert!(a > seen, "{a} after {seen}");
                    seen = a;
                } else {
                    assert_eq!(reader.get()[0], seen, "the value changed without an update");
                }
            }
            thread.join().unwrap();
            if reader.update() {
                assert!(reader.get()[0] > seen);
            }
            assert_eq!(*reader.get(), [$last; 2], "the last value is seen");
        })
    };
}

#[test]
fn no_value_is_torn_older_or_lost_at_the_end() {
    exchange!(triple_buffer, 4, 5);
}

#[test]
fn a_slow_reader_gets_the_newest() {
    exchange!(triple_buffer, 6, 2);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_publish_without_release_is_found() {
    exchange!(publish_without_release, 2, 2);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_take_without_acquire_is_found() {
    exchange!(take_without_acquire, 2, 2);
}
