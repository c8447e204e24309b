// The reduction of contact sets against brute force: nothing that is promised as kept is dropped, and the bound on the
// loss holds for every set.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include <voxshell/host/thinning.h>

#include "../bullet/check.h"

using namespace voxshell::host;

namespace {

/// Numbers from 0 to 1: the same on every machine.
struct Random {
    uint64_t state;
    double operator()() {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return double(state >> 11) / 9007199254740992.0;
    }
};

std::vector<Contact> random_set(Random& random, size_t count) {
    std::vector<Contact> contacts;
    for (size_t i = 0; i < count; ++i) {
        Contact c;
        c.point_on_b = {random(), random() < 0.5 ? 0 : random(), random()};
        const double angle = 6.283185307179586 * random();
        c.normal = {std::cos(angle), std::sin(angle), 0};
        // Rounded, so that depths and gaps are often equal.
        c.separation = std::round(20 * random() - 10) * 1e-3;
        c.gap = c.separation - std::round(10 * random()) * 1e-3;
        c.feature = uint32_t(i);
        c.kept = random() < 0.3;
        contacts.push_back(c);
    }
    return contacts;
}

double distance(const Contact& a, const Contact& b, double turn_length) {
    const double d[6] = {a.point_on_b.x - b.point_on_b.x,         a.point_on_b.y - b.point_on_b.y,
                         a.point_on_b.z - b.point_on_b.z,         turn_length * (a.normal.x - b.normal.x),
                         turn_length * (a.normal.y - b.normal.y), turn_length * (a.normal.z - b.normal.z)};
    double sum = 0;
    for (const double x : d) sum += x * x;
    return std::sqrt(sum);
}

double cover_of(const std::vector<Contact>& all, const std::vector<size_t>& chosen, double turn_length) {
    double cover = 0;
    for (const Contact& c : all) {
        double nearest = std::numeric_limits<double>::infinity();
        for (const size_t i : chosen) nearest = std::min(nearest, distance(c, all[i], turn_length));
        cover = std::max(cover, nearest);
    }
    return cover;
}

/// Returns the smallest cover of any choice of `count` contacts, by trying all.
double best_cover(const std::vector<Contact>& all, size_t count, double turn_length, size_t from,
                  std::vector<size_t>& chosen) {
    if (chosen.size() == count)
        return cover_of(all, chosen, turn_length);
    double best = std::numeric_limits<double>::infinity();
    for (size_t i = from; i < all.size(); ++i) {
        chosen.push_back(i);
        best = std::min(best, best_cover(all, count, turn_length, i + 1, chosen));
        chosen.pop_back();
    }
    return best;
}

double least(const std::vector<Contact>& contacts, double Contact::*member) {
    double value = std::numeric_limits<double>::infinity();
    for (const Contact& c : contacts) value = std::min(value, c.*member);
    return value;
}

void sets_of_any_size_keep_what_is_promised() {
    Random random = {1};
    Thinner thinner;
    for (int round = 0; round < 3000; ++round) {
        const std::vector<Contact> all = random_set(random, 1 + size_t(60 * random()));
        Thinning settings;
        settings.max_contacts = 1 + size_t(12 * random());
        settings.turn_length = random() < 0.3 ? 0 : random();
        settings.depth_tolerance = random() < 0.5 ? 0 : 2e-3;
        settings.hysteresis = random() < 0.5 ? 1 : 1.5;
        std::vector<Contact> kept = all;
        ThinningLoss loss;
        thinner.thin(kept, settings, &loss);
        CHECK(kept.size() <= settings.max_contacts && !kept.empty());
        CHECK(kept.size() + loss.dropped == all.size());
        CHECK(least(kept, &Contact::separation) == least(all, &Contact::separation));
        if (settings.max_contacts > 1)
            CHECK(least(kept, &Contact::gap) == least(all, &Contact::gap));
        // A subset, in the same order.
        for (size_t i = 0; i + 1 < kept.size(); ++i) CHECK(kept[i].feature < kept[i + 1].feature);
        // Each contact has one that stands for it: near enough and deep enough.
        CHECK(loss.depth <= settings.depth_tolerance + 1e-15);
        for (const Contact& c : all) {
            const bool stands = std::any_of(kept.begin(), kept.end(), [&](const Contact& k) {
                return distance(c, k, settings.turn_length) <= loss.cover + 1e-12 &&
                       k.separation <= c.separation + loss.depth;
            });
            CHECK(stands);
        }
        if (all.size() <= settings.max_contacts)
            CHECK(kept.size() == all.size() && loss.dropped == 0 && loss.cover == 0);
    }
}

void the_cover_is_within_its_bound_of_the_best() {
    Random random = {2};
    Thinner thinner;
    double worst = 0;
    for (int round = 0; round < 300; ++round) {
        const std::vector<Contact> all = random_set(random, 12);
        Thinning settings;
        settings.max_contacts = 4;
        settings.turn_length = 0.3;
        settings.hysteresis = round % 2 ? 1.5 : 1;
        std::vector<Contact> kept = all;
        ThinningLoss loss;
        thinner.thin(kept, settings, &loss);
        std::vector<size_t> chosen;
        const double best = best_cover(all, settings.max_contacts - 1, settings.turn_length, 0, chosen);
        CHECK(loss.cover <= 4 * settings.hysteresis * best + 1e-12);
        worst = std::max(worst, loss.cover / best);
    }
    std::printf("thinning: cover at most %.2f times the best of one contact less\n", worst);
    CHECK(worst > 1); // otherwise the sets are too easy to say anything about the bound
}

void corners_of_a_face_are_kept() {
    // A square face of 21 x 21 contacts, tilted by rounding: with a tolerance its corners stay.
    std::vector<Contact> face;
    for (int i = 0; i <= 20; ++i)
        for (int j = 0; j <= 20; ++j) {
            Contact c;
            c.point_on_b = {0.05 * i, 0, 0.05 * j};
            c.normal = {0, 1, 0};
            c.separation = -1e-4 + 1e-9 * i;
            c.gap = c.separation;
            c.feature = uint32_t(21 * i + j);
            face.push_back(c);
        }
    Thinning settings;
    settings.max_contacts = 4;
    settings.depth_tolerance = 1e-6;
    Thinner thinner;
    ThinningLoss loss;
    thinner.thin(face, settings, &loss);
    CHECK(face.size() == 4);
    for (const Contact& c : face)
        CHECK(std::fmod(c.point_on_b.x + 0.5, 1.0) == 0.5 && std::fmod(c.point_on_b.z + 0.5, 1.0) == 0.5);
}

void opposite_faces_both_count() {
    // 50 contacts on one side of a wall and one opposite to them, all at one place.
    std::vector<Contact> wall(51);
    for (size_t i = 0; i < wall.size(); ++i) {
        wall[i].point_on_b = {0, 1e-3 * double(i), 0};
        wall[i].normal = {i == 50 ? -1.0 : 1.0, 0, 0};
        wall[i].separation = wall[i].gap = i == 50 ? -1e-6 : -1e-3;
        wall[i].feature = uint32_t(i);
    }
    Thinning settings;
    settings.max_contacts = 2;
    settings.turn_length = 0.1;
    Thinner thinner;
    thinner.thin(wall, settings);
    CHECK(wall.size() == 2 && wall[1].feature == 50);
}

void kept_contacts_stay_while_they_are_nearly_as_good() {
    Random random = {3};
    Thinner thinner;
    Thinning settings;
    settings.max_contacts = 6;
    settings.hysteresis = 1.5;
    settings.depth_tolerance = 1;
    std::vector<Contact> all = random_set(random, 200);
    for (Contact& c : all) c.kept = false, c.normal = {0, 1, 0}, c.gap = c.separation;
    std::vector<Contact> first = all;
    thinner.thin(first, settings);
    size_t changes = 0, changes_without = 0;
    for (int round = 0; round < 50; ++round) {
        std::vector<Contact> now = all;
        for (Contact& c : now) {
            c.point_on_b.x += 0.02 * random();
            c.kept = std::any_of(first.begin(), first.end(), [&](const Contact& k) { return k.feature == c.feature; });
        }
        std::vector<Contact> without = now;
        thinner.thin(now, settings);
        Thinning none = settings;
        none.hysteresis = 1;
        thinner.thin(without, none);
        for (const Contact& c : now) changes += !c.kept;
        for (const Contact& c : without) changes_without += !c.kept;
    }
    std::printf("thinning: %zu changes with hysteresis, %zu without\n", changes, changes_without);
    CHECK(changes * 4 < changes_without);
}

} // namespace

int main() {
    sets_of_any_size_keep_what_is_promised();
    the_cover_is_within_its_bound_of_the_best();
    corners_of_a_face_are_kept();
    opposite_faces_both_count();
    kept_contacts_stay_while_they_are_nearly_as_good();
    return finish();
}
