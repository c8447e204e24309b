// Contacts of the edges and sharp corners of the meshes of a pair: names that are the same from step to step, and their
// places while the pair hardly moves.
#ifndef VOXSHELL_BULLET_EDGE_CONTACTS_H
#define VOXSHELL_BULLET_EDGE_CONTACTS_H

#include <vector>

#include "side.h"

namespace voxshell_bullet
{
/// Bit of the feature number of an edge of a mesh.
const uint32_t kOfEdge = 0x40000000u;

/// Remembers the contacts of edges that a search has found.
///
/// The library numbers edges, and an edge can have several contacts, one for each edge or face of the other mesh that
/// it meets. The manifolds match points by feature, so each contact gets a number of its own: that of the contact at the same
/// place in the search before, or else of the nearest contact of the same edge. Of edges that nearly coincide, as those of two
/// equal boxes on each other, another one is found in each step.
class EdgeContacts
{
public:
	bool empty() const { return m_anchors.empty(); }
	void clear() { m_anchors.clear(); }

	/// Remembers the contacts of edges among `candidates`, and gives them their names and their `touch`.
	/// @param segment  of these contacts
	void take(const Side& first, const Side& second, uint32_t segment, std::vector<Candidate>& candidates);
	/// Appends the remembered contacts at the present poses.
	void recall(const Side& first, const Side& second, std::vector<Candidate>& candidates) const;
	/// Updates the contacts of edges in `candidates` to the present poses. Both points and the normal stay where they are on
	/// the bodies: the error of the distance is of second order in the motion since the search. False when one is not known.
	bool update(const Side& first, const Side& second, std::vector<Candidate>& candidates) const;

private:
	/// A contact of the last search.
	struct Anchor
	{
		uint32_t name;       // feature number for the manifolds
		uint32_t edge;       // feature number of the library
		uint32_t ordinal;    // among the contacts of that edge
		uint32_t segment;
		Vec on_first, on_second, normal;  // points in the frames of the bodies; normal in the second's
		bool taken;                       // its name is that of a contact of this search
	};
	/// Both bodies' frames.
	struct Frames
	{
		Frame first, second;
		double inflation, second_inflation;
		Frames(const Side& a, const Side& b) : first(a.pose), second(b.pose), inflation(a.inflation + b.inflation), second_inflation(b.inflation) {}
		void place(const Anchor& anchor, Candidate& c) const;
	};

	void name_contacts(double same_place);
	Anchor* nearest(const Anchor& anchor, double farthest, bool of_edge);

	std::vector<Anchor> m_anchors;  // by ascending name, once they are named
	std::vector<Anchor> m_last;     // of the search before
};
}  // namespace voxshell_bullet

#endif
