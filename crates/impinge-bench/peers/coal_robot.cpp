// Coal's distances of the links of an arm from obstacles, pair by pair, for many configurations.
//
// Argument: a file of u32 links and their meshes as in protocol.hpp; u32 obstacles, each a mesh and a place; u32
// configurations, each with a place for every link. A place is the rotation row by row and the position, twelve f64.
// A question "clearance BLOCK REPEATS" takes one block of configurations; the values are the smallest distances.
#include <coal/BVH/BVH_model.h>
#include <coal/distance.h>

#include <memory>

#include "protocol.hpp"

namespace {

constexpr std::size_t kBlock = 50;

using Model = coal::BVHModel<coal::OBBRSS>;

std::uint32_t number(std::ifstream& file) {
  std::uint32_t read;
  protocol::read_into(file, &read, 1);
  return read;
}

std::shared_ptr<Model> model(std::ifstream& file) {
  std::vector<std::array<double, 3>> points(number(file));
  std::vector<std::array<std::uint32_t, 3>> corners(number(file));
  protocol::read_into(file, points.data(), points.size());
  protocol::read_into(file, corners.data(), corners.size());
  std::vector<coal::Vec3s> vertices;
  for (const auto& v : points) vertices.emplace_back(v[0], v[1], v[2]);
  std::vector<coal::Triangle> triangles;
  for (const auto& t : corners) triangles.emplace_back(t[0], t[1], t[2]);
  auto made = std::make_shared<Model>();
  made->beginModel(triangles.size(), vertices.size());
  made->addSubModel(vertices, triangles);
  made->endModel();
  return made;
}

coal::Transform3s place(std::ifstream& file) {
  double n[12];
  protocol::read_into(file, n, 12);
  coal::Matrix3s turn;
  turn << n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8];
  return coal::Transform3s(turn, coal::Vec3s(n[9], n[10], n[11]));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::ifstream file = protocol::open(arguments[1]);
  std::vector<std::shared_ptr<Model>> links(number(file));
  for (auto& link : links) link = model(file);
  std::vector<std::pair<std::shared_ptr<Model>, coal::Transform3s>> obstacles(number(file));
  for (auto& [mesh, at] : obstacles) mesh = model(file), at = place(file);
  std::vector<std::vector<coal::Transform3s>> configurations(number(file));
  for (auto& places : configurations)
    for (std::size_t i = 0; i < links.size(); ++i) places.push_back(place(file));

  protocol::serve({{"clearance", [&](std::size_t block, int repeats) {
    const std::size_t first = block * kBlock, last = std::min(first + kBlock, configurations.size());
    std::vector<double> least(last - first);
    const double whole = protocol::median_of(repeats, [&] {
      for (std::size_t k = first; k < last; ++k) {
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < links.size(); ++i)
          for (const auto& [mesh, at] : obstacles) {
            coal::DistanceRequest request;
            coal::DistanceResult result;
            best = std::min(best, coal::distance(links[i].get(), configurations[k][i], mesh.get(), at, request, result));
          }
        least[k - first] = best;
      }
    });
    std::ostringstream out;
    out.precision(17);
    out << "ok " << whole / static_cast<double>(last - first);
    for (const double d : least) out << ' ' << d;
    return out.str();
  }}});
}
