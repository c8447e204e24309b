//! Forms of parry's shapes, made on first use.
//!
//! A query finds the forms of a shape in one of these places, without a lock and without an allocation once they are
//! there:
//!
//! 1. A Voxshell shape carries its forms.
//! 2. The dispatcher holds the shapes that it prepared. While it shares the ownership of a shape, nobody can change the
//!    shape in place (`SharedShape::make_mut` makes a copy) or free it. Its address and type therefore identify it, in
//!    constant time.
//! 3. Each thread remembers the shapes that it met by their contents (`content`). The time to read the content is constant
//!    for round shapes, boxes, cylinders, cones and half-spaces, and grows with the number of vertices for others.
//!
//! A shape that a thread meets for the first time comes from the cache that all threads share, under its lock.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use parry3d::shape::{Shape, SharedShape, TypedShape};

use crate::body::Body;
use crate::content::{content, has_content, hash};
use crate::shape::VoxshellShape;
use crate::stock;

/// Number of shapes above which a table forgets all of them: a program that changes a size in each step must not fill the
/// memory.
const MOST_SHAPES: usize = 1024;

/// The forms of all shapes with one content.
struct Forms {
    content: Box<[u32]>,
    /// `None` inside: such a shape has no forms.
    body: OnceLock<Option<Arc<Body>>>,
}

impl Forms {
    fn of(&self, shape: &dyn Shape) -> Option<Arc<Body>> {
        self.body.get_or_init(|| stock::body_of(shape).map(Arc::new)).clone()
    }
}

/// Forms by the hash of their content. Of two contents with the same hash it keeps the last one.
type Table = HashMap<u64, Arc<Forms>>;

fn insert(table: &mut Table, key: u64, forms: Arc<Forms>) {
    if table.len() >= MOST_SHAPES {
        table.clear();
    }
    table.insert(key, forms);
}

fn get(table: &Table, key: u64, shape: &dyn Shape) -> Option<Arc<Forms>> {
    table.get(&key).filter(|forms| has_content(shape, &forms.content)).cloned()
}

/// The shapes that all threads met.
static SHARED: OnceLock<Mutex<Table>> = OnceLock::new();

thread_local! {
    /// The shapes that this thread met.
    static MET: RefCell<Table> = RefCell::default();
}

#[cfg(test)]
thread_local! {
    /// Number of times that this thread locked the shared table.
    static LOCKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Returns the forms of a shape from the cache of all threads, and makes them first if they are not there.
fn find_shared(key: u64, shape: &dyn Shape) -> Arc<Forms> {
    #[cfg(test)]
    LOCKS.with(|count| count.set(count.get() + 1));
    // A panic while the lock is held cannot leave the table in a wrong state.
    let mut table = SHARED.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    get(&table, key, shape).unwrap_or_else(|| {
        let forms = Arc::new(Forms { content: content(shape), body: OnceLock::new() });
        insert(&mut table, key, forms.clone());
        forms
    })
}

/// Returns the forms of a shape by its content; `None` if it has none.
fn find_by_content(shape: &dyn Shape) -> Option<Arc<Body>> {
    let key = hash(shape);
    let met = MET.with_borrow(|table| get(table, key, shape));
    let forms = met.unwrap_or_else(|| {
        let forms = find_shared(key, shape);
        MET.with_borrow_mut(|table| insert(table, key, forms.clone()));
        forms
    });
    // Outside the lock: other pairs go on while one shape is made.
    forms.of(shape)
}

/// Address and type of a shape. A shape and the first one inside it can have the same address, but then have different
/// types.
type Place = (usize, u32);

fn place(shape: &dyn Shape) -> Place {
    (std::ptr::from_ref(shape).cast::<()>() as usize, shape.shape_type() as u32)
}

#[derive(Clone)]
struct Held {
    /// Keeps the shape from being changed or freed.
    shape: SharedShape,
    body: Arc<Body>,
    is_own: bool,
}

/// The shapes of a dispatcher that it prepared. It does not change while queries run: a dispatcher that prepares more
/// shapes needs exclusive access.
#[derive(Clone, Default)]
pub(crate) struct Cache {
    held: Arc<HashMap<Place, Held>>,
}

impl Cache {
    /// Makes the forms of a shape and holds the shape. Returns whether it has forms.
    pub fn hold(&mut self, shape: &SharedShape) -> bool {
        let Some(body) = self.find(&**shape) else { return false };
        if !matches!(shape.as_typed_shape(), TypedShape::Custom(_)) {
            let held = Held { shape: shape.clone(), body, is_own: is_own(&**shape) };
            Arc::make_mut(&mut self.held).insert(place(&**shape), held);
        }
        true
    }

    /// Releases a shape. Returns whether it was held.
    pub fn release(&mut self, shape: &SharedShape) -> bool {
        let place = place(&**shape);
        self.held.contains_key(&place) && Arc::make_mut(&mut self.held).remove(&place).is_some()
    }

    fn held(&self, shape: &dyn Shape) -> Option<&Held> {
        let held = self.held.get(&place(shape))?;
        debug_assert!(place(&*held.shape) == place(shape));
        Some(held)
    }

    /// Returns the forms of a shape, and makes them first if they are not there; `None` if it has none.
    pub fn find(&self, shape: &dyn Shape) -> Option<Arc<Body>> {
        if let Some(own) = shape.as_shape::<VoxshellShape>() {
            return Some(own.body.clone());
        }
        self.held(shape).map(|held| held.body.clone()).or_else(|| find_by_content(shape))
    }

    /// Returns whether a shape is a Voxshell shape, or a compound with one.
    pub fn contains_own(&self, shape: &dyn Shape) -> bool {
        match shape.as_typed_shape() {
            TypedShape::Compound(_) => self.held(shape).map_or_else(|| is_own(shape), |held| held.is_own),
            _ => is_own(shape),
        }
    }
}

fn is_own(shape: &dyn Shape) -> bool {
    match shape.as_typed_shape() {
        TypedShape::Custom(_) => shape.as_shape::<VoxshellShape>().is_some(),
        TypedShape::Compound(compound) => compound.shapes().iter().any(|(_, shape)| is_own(&**shape)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
