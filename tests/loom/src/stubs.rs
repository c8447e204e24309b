//! The items of the library that the handles import, as far as they use them.

pub mod asset {
    use crate::sync::UnsafeCell;

    /// A value whose use and end loom sees.
    pub struct Shape(UnsafeCell<u32>);

    impl Shape {
        pub fn new() -> Self {
            Self(UnsafeCell::new(7))
        }

        /// Reads the value.
        pub fn value(&self) -> u32 {
            // SAFETY: the tests are to show that no other thread has access.
            unsafe { *self.0.get() }
        }

        pub fn to_bytes(&self) -> Result<Vec<u8>, ()> {
            Err(())
        }
    }

    impl Drop for Shape {
        fn drop(&mut self) {
            // SAFETY: as above.
            assert_eq!(unsafe { std::mem::take(&mut *self.0.get()) }, 7, "a value ends once");
        }
    }
}

pub mod memory {
    pub struct Refused;

    pub fn uses_of_reserve() -> usize {
        0
    }

    pub fn ran_out(_: &'static str) -> Refused {
        Refused
    }
}

/// The modules beside the handles.
pub mod beside {
    pub mod failure {
        use crate::stubs::memory::Refused;

        #[derive(Debug)]
        pub struct Failure {
            pub status: i32,
        }

        impl Failure {
            pub fn new(status: i32, _message: String) -> Self {
                Self { status }
            }

            pub fn argument(_: &str, _: &str, _: &str) -> Self {
                Self { status: super::status::VXS_INVALID_ARGUMENT }
            }
        }

        impl From<Refused> for Failure {
            fn from(_: Refused) -> Self {
                Self { status: -1 }
            }
        }
    }

    #[allow(non_camel_case_types)]
    pub mod status {
        pub type vxs_status = i32;
        pub const VXS_OK: i32 = 0;
        pub const VXS_INVALID_ARGUMENT: i32 = 1;
        pub const VXS_INVALID_HANDLE: i32 = 2;
        pub const VXS_PANIC: i32 = 3;
        pub const VXS_BUSY: i32 = 4;
    }

    #[allow(non_camel_case_types)]
    pub mod types {
        pub struct vxs_shape;
    }

    pub mod check {
        use super::failure::Failure;

        pub fn out<T>(_: &str, _: *mut T) -> Result<(), Failure> {
            Ok(())
        }
    }
}
