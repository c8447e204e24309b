/* Voxshell bodies in the Open Dynamics Engine 0.16: a geometry class with colliders for all built-in classes.
 *
 *   dInitODE2(0);
 *   dVoxshellInit(NULL);                                    // once, after dInitODE2
 *   dGeomID geom = dCreateVoxshell(space, shape);           // a vxs_shape of the C API
 *   dGeomSetBody(geom, body);
 *   ...
 *   static void near(void* data, dGeomID a, dGeomID b) {    // as with every ODE geometry
 *     dContact contacts[32];
 *     int n = dCollide(a, b, 32, &contacts[0].geom, sizeof(dContact));
 *     for (int i = 0; i < n; ++i) {
 *       contacts[i].surface.mode = 0, contacts[i].surface.mu = 0.5;
 *       dVoxshellPrepareContact(&contacts[i], dt);
 *       dJointAttach(dJointCreateContact(world, group, &contacts[i]), dGeomGetBody(a), dGeomGetBody(b));
 *     }
 *   }
 *
 * Positions and normals are those of ODE: the normal points into the first geometry of dCollide. Lengths are those of the
 * host, metres if it uses SI units. ODE's functions that fail print through its error handler; so do these.
 */
#ifndef VOXSHELL_ODE_H
#define VOXSHELL_ODE_H

#include <ode/ode.h>
#include <voxshell/voxshell.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Settings of all Voxshell geometries. dVoxshellSettingsInit fills in the defaults. */
typedef struct dVoxshellSettings {
  /** Contacts up to this separation are given to ODE, with a negative depth. Default 0.001. */
  dReal margin;
  /**
   * The host's step, s. Contacts that come within the margin during a step are given before they touch. Default 0: no
   * look-ahead. dVoxshellPrepareContact makes ODE's solver use such contacts; without it they would stop bodies early.
   */
  dReal step;
  /**
   * One of VXS_COVERAGE_. Default VXS_COVERAGE_FACETS, as in the Bullet plugin: bodies that lie on each other take 20 times
   * as long with VXS_COVERAGE_EDGES, which also finds the edges beside samples that touch.
   */
  unsigned coverage;
  /**
   * Triangle meshes of ODE are sheets: a sample up to this far behind one is recognised as having passed through. Half the
   * thickness of the bodies is a good value. Default 0.05.
   */
  dReal sheet_depth;
} dVoxshellSettings;

void dVoxshellSettingsInit(dVoxshellSettings* settings);

/**
 * Creates the geometry class. Call it once after each dInitODE2, before any other function of this header.
 *
 * @param settings  null for the defaults
 * @return 1, or 0 with a message through ODE's error handler: an ODE whose version or precision differs from its headers
 */
int dVoxshellInit(const dVoxshellSettings* settings);

/** Changes the settings of all geometries. */
void dVoxshellConfigure(const dVoxshellSettings* settings);

/**
 * Creates a geometry.
 *
 * @param space  may be null
 * @param shape  retained by the geometry. With a field and a pointshell it collides with everything below; without a
 *               pointshell not with planes and other fields, without a field with fields only
 * @return null if the shape is not one, or infinite
 */
dGeomID dCreateVoxshell(dSpaceID space, const vxs_shape* shape);

/** Returns the number of the class, for dGeomGetClass; -1 before dVoxshellInit. */
int dVoxshellClass(void);

/** Returns the shape of a geometry; null for a geometry of another class. */
const vxs_shape* dGeomVoxshellGetShape(dGeomID geom);

/**
 * Makes a shape stand for one of ODE's own geometries when it meets a Voxshell geometry. Needed for convex hulls
 * (vxs_shape_create_convex_hull) and height fields (vxs_shape_create_sheet), whose points ODE does not give out; without it
 * they do not collide with Voxshell geometries. Optional for the others.
 *
 * @param geom   placeable; its pose is that of the shape's frame. Call this with null before it is destroyed
 * @param shape  retained; null: the geometry's own again
 */
void dVoxshellSetShape(dGeomID geom, const vxs_shape* shape);

/**
 * Lets the solver use a contact before it touches: sets the normal velocity (dContactMotionN) at which the bodies may
 * approach, so that they just touch at the end of the step. Does nothing for contacts that penetrate.
 *
 * @param contact  with its geometry and the rest of its surface already set
 * @param step     the host's step, s
 */
void dVoxshellPrepareContact(dContact* contact, dReal step);

/** Forgets the pairs that have not collided in the last second of calls; call it after each step. */
void dVoxshellEndStep(void);

/** Releases what the pairs keep. Call it before dCloseODE, when all Voxshell geometries are destroyed. */
void dVoxshellClose(void);

#ifdef __cplusplus
}
#endif

#endif
