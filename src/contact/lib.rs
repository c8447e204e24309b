//! Discrete queries: pointshell against field. Contact sets, distance, penetration, manifold reduction. Independent
//! of files, engines and forces.
//!
//! A query runs the samples of one body, under their sphere tree, through the signed distance field of the other
//! (Sagardia, Stouraitis & Lopes e Silva 2014, Algorithm 1). It leaves out a node only when the field's certified
//! lower bound over the node's ball is above the wanted separation. So the traversal finds exactly the samples that
//! testing every sample finds.
//!
//! Of two bodies with exact surfaces, the edges of both meshes are tested too, so that no intersection is missed between
//! the samples.

mod distance;
mod hulls;
mod manifold;
mod memory;
mod pair;
mod query;
mod search;
mod types;
mod workspace;

pub use distance::distance;
pub use hulls::{hull_contacts, hull_distance, HullQuery, HullStats, HullWorkspace};
pub use manifold::contacts_of;
pub use pair::{Manifold, Motion, Origin, Pair, PairOptions, PairPoint, PairStep};
pub use query::{contacts, edge_contacts};
pub use types::directions;
pub use types::{
    Budget, Completeness, Contact, Coverage, Geometry, Owner, Query, Report, Roles, Segmentation, Stats, Step,
    FEATURE_OF_B, FEATURE_OF_EDGE, FEW_EDGES, MOST_FACETS,
};
pub use workspace::Workspace;
