//! The data that crosses between the Rust half (arguments, measuring, report) and the C++ half (the Bullet scenes).

#[cxx::bridge(namespace = "demo")]
mod ffi {
    /// The scenes; one .cpp each.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum SceneKind {
        DropPlane,
        DropBox,
        Pair,
        Ball,
        Pile,
        Pile500,
        Pile2000,
        StackSpheres,
        Stack,
        Rolling,
        Wires,
        FastDrop,
        Fan,
        LowFrequency,
        Levels,
        Scaling,
        NutBolt,
        NutBolt100,
    }

    /// What brings a nut down its bolt.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Drive {
        /// Its weight; the thread is slippery.
        Weight,
        /// A driver; the thread is dry steel.
        Driver,
    }

    /// What has a contact manifold of its own in Voxshell's pairs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Segments {
        /// Nothing.
        None,
        /// Nodes of a level of the sphere tree.
        Level,
        /// Contact regions.
        Region,
    }

    /// What makes a body's collision shape.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Method {
        /// Bullet's own sphere; only the ball has it.
        Sphere,
        Hull,
        HullFull,
        Vhacd32,
        Hacd,
        Gimpact,
        VoxshellCoarse,
        VoxshellFine,
    }

    /// One convex part of a decomposition.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Hull {
        /// x y z of each point, metres, body frame.
        points: Vec<f64>,
    }

    /// A body's geometry, body frame: origin at the centre of mass, axes principal.
    #[derive(Clone, Debug)]
    struct Model {
        /// x y z of each vertex, metres.
        vertices: Vec<f64>,
        /// Three indices for each triangle.
        triangles: Vec<u32>,
        /// Principal moments of inertia for 1 kg, kg m².
        inertia: [f64; 3],
        /// Body to world, quaternion x y z w: the pose in which it was modelled.
        upright: [f64; 4],
        /// Box of the vertices about the centre of mass in that pose, metres.
        upright_min: [f64; 3],
        upright_max: [f64; 3],
        /// Where the mesh had its origin, in that pose, about the centre of mass, metres.
        mesh_origin: [f64; 3],
        /// m³.
        volume: f64,
        /// Of a ball, metres; 0 otherwise.
        radius: f64,
        /// Height of a copy that is set upon it above it, metres.
        pitch: f64,
        /// True for what other bodies are to lie in.
        container: bool,
        /// The convex parts, for the methods that use a decomposition.
        hulls: Vec<Hull>,
        /// The cooked Voxshell asset, for the methods that use one; empty otherwise.
        asset: String,
    }

    /// Everything a scene needs to know. It must outlive the scene.
    #[derive(Clone, Debug)]
    struct Setup {
        scene: SceneKind,
        method: Method,
        /// Seconds.
        dt: f64,
        /// Bullet's collision margin, metres.
        margin: f64,
        /// Coefficient of restitution of the ball.
        restitution: f64,
        /// Bodies to pour into a pile; bodies of each tower of a stack; nuts.
        count: u32,
        /// Of the nuts.
        drive: Drive,
        /// Bullet's own continuous collision detection is on: a sphere swept along with each convex body.
        swept_spheres: bool,
        segments: Segments,
        /// 0 for the root.
        segment_level: u32,
        /// Where the body is put, one after the other, in a scene that does that.
        places: Vec<BodyPose>,
        /// Voxshell's motion clamp is in the world.
        clamped: bool,
        models: Vec<Model>,
    }

    /// Taken on each step.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct StepFigures {
        /// With the motion clamp, where there is one.
        narrowphase_ns: f64,
        /// The whole step: broadphase, narrowphase, solver.
        step_ns: f64,
        /// Of bodies whose boxes overlap.
        pairs: u32,
        /// The motion clamp alone.
        clamp_ns: f64,
        /// Contact points in all manifolds.
        contacts: u32,
        /// Manifolds that have at least one.
        manifolds: u32,
        /// Of all bodies, joules.
        kinetic_energy: f64,
    }

    /// Body to world.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct BodyPose {
        /// Metres.
        position: [f64; 3],
        /// x y z w.
        rotation: [f64; 4],
        /// False before it is poured.
        present: bool,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct BodyInfo {
        /// Index into the setup's models.
        model: usize,
        fixed: bool,
    }

    unsafe extern "C++" {
        include!("scene.h");

        type Scene;

        /// # Safety
        /// `setup` must outlive the scene: use [`crate::simulate`], which sees to it.
        unsafe fn make_scene(setup: &Setup) -> Result<UniquePtr<Scene>>;
        fn step(self: Pin<&mut Scene>) -> StepFigures;
        fn poses(&self, out: &mut Vec<BodyPose>);
        fn infos(&self) -> Vec<BodyInfo>;

        fn small_hull(vertices: &[f64]) -> Result<Hull>;
        fn hacd_available() -> bool;
        fn hacd_hulls(vertices: &[f64], triangles: &[u32]) -> Vec<Hull>;
    }
}

pub use ffi::*;
