//! Mass properties and the state of a body.

use voxshell_base::math::{Mat3, Pose, Rotation, Twist, Vec3};
use voxshell_base::{Error, Result};
use voxshell_mesh::MassProperties;
use voxshell_response::{Kinematics, Response};

/// Mass, centre of mass and inertia of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mass {
    mass: f64,
    center: Vec3,
    inertia: Mat3,
    inverse: Mat3,
}

impl Mass {
    /// Makes the mass properties: `mass` in kg, `center` of mass in the body frame, m, `inertia` about it along the
    /// body's axes, kg·m².
    ///
    /// # Errors
    /// `InvalidArgument` for a mass or an inertia that is not positive (definite) and finite, or a centre that is not
    /// finite.
    pub fn new(mass: f64, center: Vec3, inertia: Mat3) -> Result<Self> {
        if !(mass > 0.0 && mass.is_finite()) {
            return Err(Error::argument("mass", mass, "a positive, finite mass in kilograms"));
        }
        if center.iter().any(|c| !c.is_finite()) {
            return Err(Error::argument("center", format!("{:?}", center.as_slice()), "finite coordinates in metres"));
        }
        let inertia = (inertia + inertia.transpose()) * 0.5;
        let inverse = inertia.cholesky().map(|factor| factor.inverse());
        match inverse.filter(|m| m.iter().chain(inertia.iter()).all(|v| v.is_finite())) {
            Some(inverse) => Ok(Self { mass, center, inertia, inverse }),
            None => {
                let expected = "a positive definite, finite matrix in kg·m²";
                Err(Error::argument("inertia", format!("{:?}", inertia.as_slice()), expected))
            }
        }
    }

    /// Returns the mass properties of a homogeneous body of mass `mass`, kg.
    ///
    /// # Errors
    /// As [`Mass::new`].
    pub fn of_solid(mass: f64, solid: &MassProperties) -> Result<Self> {
        Self::new(mass, solid.center_of_mass.into(), solid.inertia_matrix() * mass)
    }

    /// Returns the mass properties of a homogeneous sphere around the body's origin.
    ///
    /// # Errors
    /// As [`Mass::new`].
    pub fn of_sphere(mass: f64, radius: f64) -> Result<Self> {
        Self::new(mass, Vec3::zeros(), Mat3::from_diagonal_element(0.4 * mass * radius * radius))
    }

    /// Mass, kg.
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Centre of mass, body frame, m.
    pub fn center(&self) -> &Vec3 {
        &self.center
    }

    /// Inertia about the centre of mass, along the body's axes, kg·m².
    pub fn inertia(&self) -> &Mat3 {
        &self.inertia
    }

    /// Inverse of the inertia, 1/(kg·m²).
    pub fn inverse_inertia(&self) -> &Mat3 {
        &self.inverse
    }
}

/// A rigid body in motion, world frame: the state of Otaduy & Lin 2005, equation 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidBody {
    pub mass: Mass,
    /// x: position of the centre of mass, m.
    pub center: Vec3,
    /// q: body to world.
    pub rotation: Rotation,
    /// P, N·s.
    pub momentum: Vec3,
    /// L, about the centre of mass, N·m·s.
    pub angular_momentum: Vec3,
}

impl RigidBody {
    /// Makes a body at rest.
    pub fn at(mass: Mass, pose: &Pose) -> Self {
        let mut body = Self {
            mass,
            center: Vec3::zeros(),
            rotation: Rotation::identity(),
            momentum: Vec3::zeros(),
            angular_momentum: Vec3::zeros(),
        };
        body.set_pose(pose);
        body
    }

    /// Pose, body to world.
    pub fn pose(&self) -> Pose {
        let origin = self.center - self.rotation * self.mass.center;
        Pose::from_parts(origin.into(), self.rotation)
    }

    /// Sets the pose and leaves the momenta unchanged.
    pub fn set_pose(&mut self, pose: &Pose) {
        self.rotation = pose.rotation;
        self.center = pose.transform_point(&self.mass.center.into()).coords;
    }

    /// Inertia about the centre of mass, world axes, kg·m².
    pub fn inertia(&self) -> Mat3 {
        self.turned(&self.mass.inertia)
    }

    /// Inverse of [`RigidBody::inertia`].
    pub fn inverse_inertia(&self) -> Mat3 {
        self.turned(&self.mass.inverse)
    }

    fn turned(&self, m: &Mat3) -> Mat3 {
        let r = self.rotation.to_rotation_matrix().into_inner();
        r * m * r.transpose()
    }

    /// Velocity of the centre of mass and ω = R I⁻¹ Rᵀ L.
    pub fn twist(&self) -> Twist {
        let body = self.rotation.inverse() * self.angular_momentum;
        Twist { linear: self.momentum / self.mass.mass, angular: self.rotation * (self.mass.inverse * body) }
    }

    pub fn set_twist(&mut self, twist: &Twist) {
        self.momentum = twist.linear * self.mass.mass;
        let body = self.rotation.inverse() * twist.angular;
        self.angular_momentum = self.rotation * (self.mass.inertia * body);
    }

    /// Kinematics about the centre of mass.
    pub fn kinematics(&self) -> Kinematics {
        Kinematics { pose: self.pose(), center: self.center, twist: self.twist() }
    }

    /// Kinetic energy, J.
    pub fn kinetic_energy(&self) -> f64 {
        let twist = self.twist();
        0.5 * (twist.linear.dot(&self.momentum) + twist.angular.dot(&self.angular_momentum))
    }

    /// Returns the weight in a uniform field of `gravity`, m/s².
    pub fn weight(&self, gravity: &Vec3) -> Response {
        let force = gravity * self.mass.mass;
        Response::constant(voxshell_base::math::Wrench { force, torque: Vec3::zeros() })
    }

    pub fn is_finite(&self) -> bool {
        let vectors = [&self.center, &self.momentum, &self.angular_momentum];
        vectors.iter().flat_map(|v| v.iter()).chain(self.rotation.coords.iter()).all(|v| v.is_finite())
    }
}
