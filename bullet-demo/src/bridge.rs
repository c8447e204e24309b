//! The data exchanged between the Rust half (arguments, measuring, report) and the C++ half (the Bullet scenes).

#[cxx::bridge(namespace = "demo")]
mod ffi {
    /// The scenes; one .cpp file each.
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
        NutBolt1000,
        /// One nut that the caller pushes, without gravity.
        Screw,
        Degenerate,
        Flush,
    }

    /// Drive that moves a nut down its bolt.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Drive {
        /// The weight of the nut; the thread is slippery.
        Weight,
        /// A driver; the thread is dry steel.
        Driver,
    }

    /// Drive of the moving body of a trial.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Motion {
        /// No drive.
        Free,
        /// An angular velocity about z that changes its sign twice a second.
        Rocking,
        /// A constant angular velocity about z.
        Rolling,
    }

    /// Unit of a Voxshell pair that has a contact manifold of its own.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Segments {
        /// No segmentation: one manifold for the pair.
        None,
        /// Nodes at one level of the sphere tree.
        Level,
        /// Contact regions.
        Region,
    }

    /// Method that makes the collision shape of a body.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Method {
        /// Bullet's own sphere; only for balls.
        Sphere,
        Hull,
        HullFull,
        Vhacd32,
        Hacd,
        Gimpact,
        VoxshellCoarse,
        VoxshellFine,
        /// Cooked with the defaults of `vxs_cook_options`.
        Voxshell,
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
        /// Origin of the original mesh in that pose, relative to the centre of mass, metres.
        mesh_origin: [f64; 3],
        /// Volume, m³.
        volume: f64,
        /// Radius of a ball, metres; 0 otherwise.
        radius: f64,
        /// Height of one body above the body below it in a stack, metres.
        pitch: f64,
        /// Advance per turn of its thread, metres; 0 without a thread.
        lead: f64,
        /// True for a body that holds others.
        container: bool,
        /// The convex parts, for the methods that use a decomposition.
        hulls: Vec<Hull>,
        /// The cooked Voxshell asset, for the methods that use one; empty otherwise.
        asset: String,
    }

    /// A body of a trial at the start.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Placement {
        /// Index into the setup's models.
        model: usize,
        fixed: bool,
        /// Body to world: position in metres, quaternion x y z w.
        position: [f64; 3],
        rotation: [f64; 4],
        /// Velocity of the centre of mass, m/s.
        velocity: [f64; 3],
    }

    /// Everything that a scene needs. It must outlive the scene.
    #[derive(Clone, Debug)]
    struct Setup {
        scene: SceneKind,
        method: Method,
        /// Time step, seconds.
        dt: f64,
        /// Bullet's collision margin, metres.
        margin: f64,
        /// Coefficient of restitution of the ball.
        restitution: f64,
        /// Bodies of a pile, bodies of each tower of a stack, or nuts.
        count: u32,
        /// Drive of the nuts.
        drive: Drive,
        /// Index of the bolt's model; that of its nut follows.
        bolt: usize,
        /// Largest number of turns of a nut above the head at the start.
        turns: f64,
        /// Iterations of the solver.
        iterations: u32,
        /// Threads of the narrowphase, with the caller's own.
        threads: u32,
        /// True if edges and corners of two meshes are tested against each other.
        edges: bool,
        /// True if Bullet's own continuous collision detection is on: a sphere is swept along with each convex body.
        swept_spheres: bool,
        segments: Segments,
        /// Level of the sphere tree; 0 for the root.
        segment_level: u32,
        /// Poses of the body, one per step, for the scene that uses them.
        places: Vec<BodyPose>,
        /// True if Voxshell's motion clamp is in the world.
        clamped: bool,
        models: Vec<Model>,
        /// The bodies of a trial.
        placements: Vec<Placement>,
        /// True if the ground of a trial is the plane y = 0.
        on_plane: bool,
        /// Gravity and push on the moving body of a trial, m/s².
        acceleration: [f64; 3],
        /// Coefficient of friction of each body of a trial, nut or bolt; Bullet multiplies them.
        friction: f64,
        motion: Motion,
    }

    /// Measurements of one step.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct StepFigures {
        /// Narrowphase time, nanoseconds; includes the motion clamp if there is one. Wall time with several threads.
        narrowphase_ns: f64,
        /// Processor time of all threads in the narrowphase, nanoseconds.
        narrowphase_cpu_ns: f64,
        /// Wall time of the whole step, nanoseconds.
        step_wall_ns: f64,
        /// Time of the whole step (broadphase, narrowphase, solver), nanoseconds.
        step_ns: f64,
        /// Pairs of bodies whose boxes overlap.
        pairs: u32,
        /// Time of the motion clamp alone, nanoseconds.
        clamp_ns: f64,
        /// Contact points in all manifolds.
        contacts: u32,
        /// Depth of the deepest contact, metres; 0 if none penetrates.
        contact_depth: f64,
        /// Manifolds with at least one contact.
        manifolds: u32,
        /// Kinetic energy of all bodies, joules.
        kinetic_energy: f64,
    }

    /// Pose of a body, body to world.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct BodyPose {
        /// Position, metres.
        position: [f64; 3],
        /// Quaternion x y z w.
        rotation: [f64; 4],
        /// False until the body is poured.
        present: bool,
    }

    /// A contact point with the impulse that the solver gave it in the last step.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct ContactLoad {
        /// Position in the world, metres.
        position: [f64; 3],
        /// Impulse along the normal, N s.
        impulse: f64,
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
        /// `setup` must outlive the scene; [`crate::simulate`] guarantees that.
        unsafe fn make_scene(setup: &Setup) -> Result<UniquePtr<Scene>>;
        fn step(self: Pin<&mut Scene>) -> StepFigures;
        fn poses(&self, out: &mut Vec<BodyPose>);
        fn infos(&self) -> Vec<BodyInfo>;
        /// Adds an impulse, N s, and an angular impulse, N m s, to the body of this index in `infos`.
        fn push(self: Pin<&mut Scene>, body: usize, impulse: &[f64; 3], angular: &[f64; 3]);
        /// Lets a force, N, act on the centre of mass of the body of this index in the next step.
        fn load(self: Pin<&mut Scene>, body: usize, force: &[f64; 3]);
        /// Returns the angular velocity of the body of this index, rad/s.
        fn spin(&self, body: usize) -> [f64; 3];
        /// Sets the body of this index at rest in a pose.
        fn place(self: Pin<&mut Scene>, body: usize, pose: &BodyPose);
        /// Sets the coefficient of friction of all bodies; Bullet multiplies those of two bodies.
        fn set_friction(self: Pin<&mut Scene>, friction: f64);
        fn loads(&self) -> Vec<ContactLoad>;

        fn small_hull(vertices: &[f64]) -> Result<Hull>;
        fn hacd_available() -> bool;
        fn hacd_hulls(vertices: &[f64], triangles: &[u32]) -> Vec<Hull>;
    }
}

pub use ffi::*;
