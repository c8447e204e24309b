//! The 16-bit samples of a field: in memory of their own, or in memory of another owner.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use voxshell_base::memory::deserialize_vec;

/// Samples that never change; a clone shares them.
///
/// The address is resolved at construction, so that reading a sample costs as much as with a slice.
#[derive(Clone)]
pub struct Samples {
    first: NonNull<i16>,
    len: usize,
    /// Keeps the samples alive.
    _owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: nobody writes to the samples, and the owner may be shared and dropped by any thread.
unsafe impl Send for Samples {}
// SAFETY: as above.
unsafe impl Sync for Samples {}

impl Samples {
    /// Returns samples in memory that `owner` keeps.
    ///
    /// # Safety
    /// `samples` must stay where they are, readable and unchanged, for as long as `owner` lives.
    pub unsafe fn kept_by(owner: Arc<dyn Any + Send + Sync>, samples: &[i16]) -> Self {
        Self { first: NonNull::from(samples).cast(), len: samples.len(), _owner: owner }
    }
}

impl From<Vec<i16>> for Samples {
    fn from(samples: Vec<i16>) -> Self {
        let owner = Arc::new(samples);
        // SAFETY: nothing but this owner has the vector, and nothing changes it.
        unsafe { Self::kept_by(owner.clone(), &owner) }
    }
}

impl Deref for Samples {
    type Target = [i16];

    #[inline(always)]
    fn deref(&self) -> &[i16] {
        // SAFETY: the owner lives as long as `self`, and keeps the samples.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl PartialEq for Samples {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} samples", self.len)
    }
}

impl Serialize for Samples {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Samples {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_vec(deserializer).map(|samples: Vec<i16>| samples.into())
    }
}
