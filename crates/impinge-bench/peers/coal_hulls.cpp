// Coal's GJK between two convex hulls along a trajectory, as its users call it for coherent motion: with
// the guess of the last query, or without.
//
// Arguments as in protocol.hpp: hull a, hull b, placements. Each question runs the whole trajectory REPEATS
// times; the time is the median, for each query, and the values are all distances.
#include <coal/distance.h>
#include <coal/shape/convex.h>

#include <memory>

#include "protocol.hpp"

namespace {

using Hull = coal::Convex<coal::Triangle>;

std::unique_ptr<Hull> hull(const protocol::Mesh& mesh) {
  auto points = std::make_shared<std::vector<coal::Vec3s>>();
  for (const auto& v : mesh.vertices) points->emplace_back(v[0], v[1], v[2]);
  auto triangles = std::make_shared<std::vector<coal::Triangle>>();
  for (const auto& t : mesh.triangles) triangles->emplace_back(t[0], t[1], t[2]);
  const auto count = static_cast<unsigned>(points->size());
  auto made = std::make_unique<Hull>(points, count, triangles, static_cast<unsigned>(triangles->size()));
  made->computeLocalAABB();
  return made;
}

coal::Transform3s transform(const double* row) {
  return coal::Transform3s(coal::Quatf(row[0], row[1], row[2], row[3]),
                           coal::Vec3s(row[4], row[5], row[6]));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const auto a = hull(protocol::read_mesh(arguments[1]));
  const auto b = hull(protocol::read_mesh(arguments[2]));
  std::vector<std::array<coal::Transform3s, 2>> poses;
  for (const auto& row : protocol::read_placements(arguments[3]))
    poses.push_back({transform(row.data()), transform(row.data() + 7)});

  const auto run = [&](int repeats, bool cached, double tolerance) {
    std::vector<double> distances(poses.size());
    const double whole = protocol::median_of(repeats, [&] {
      coal::DistanceRequest request;
      request.enable_nearest_points = true;
      request.enable_signed_distance = false;
      if (cached) request.gjk_initial_guess = coal::GJKInitialGuess::CachedGuess;
      if (tolerance > 0) request.gjk_tolerance = tolerance;
      coal::DistanceResult result;
      coal::ComputeDistance compute(a.get(), b.get());
      for (std::size_t i = 0; i < poses.size(); ++i) {
        result.clear();
        distances[i] = compute(poses[i][0], poses[i][1], request, result);
        request.updateGuess(result);
      }
    });
    std::ostringstream out;
    out.precision(17);
    out << "ok " << whole / static_cast<double>(poses.size());
    for (double d : distances) out << ' ' << d;
    return out.str();
  };
  protocol::serve({
      {"cached", [&](std::size_t, int repeats) { return run(repeats, true, 0); }},
      {"cold", [&](std::size_t, int repeats) { return run(repeats, false, 0); }},
      {"tight", [&](std::size_t, int repeats) { return run(repeats, true, 1e-13); }},
  });
}
