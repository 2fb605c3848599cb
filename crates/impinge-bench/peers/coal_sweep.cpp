// Conservative advancement on Coal, which has no continuous collision of its own: its distance between two
// meshes, and a step of that length over the largest speed of any point, until they are a millionth apart.
//
// Arguments: mesh a and mesh b as in protocol.hpp, and motions: u32 rows, then rows of twenty f64: quaternion
// (w x y z) and angular velocity of a, quaternion, position, velocity and angular velocity of b. Both turn about
// their own origins; a stays at the origin. "sweep" answers the time of the first contact, or 2 without one. "advance"
// takes seconds for repeats and goes through the motion once: it answers how far it came, and whether that is a contact.
#include <coal/BVH/BVH_model.h>
#include <coal/distance.h>

#include <chrono>
#include <limits>
#include <memory>

#include "protocol.hpp"

namespace {

using Model = coal::BVHModel<coal::OBBRSS>;
using Motion = std::array<double, 20>;

constexpr double near = 1e-6;

std::shared_ptr<Model> build(const protocol::Mesh& mesh) {
  std::vector<coal::Vec3s> vertices;
  std::vector<coal::Triangle> triangles;
  for (const auto& v : mesh.vertices) vertices.emplace_back(v[0], v[1], v[2]);
  for (const auto& t : mesh.triangles) triangles.emplace_back(t[0], t[1], t[2]);
  auto model = std::make_shared<Model>();
  model->beginModel(triangles.size(), vertices.size());
  model->addSubModel(vertices, triangles);
  model->endModel();
  return model;
}

double reach(const protocol::Mesh& mesh) {
  double most = 0;
  for (const auto& v : mesh.vertices) most = std::max(most, coal::Vec3s(v[0], v[1], v[2]).norm());
  return most;
}

coal::Vec3s vector(const double* at) { return coal::Vec3s(at[0], at[1], at[2]); }

coal::Matrix3s turned(const coal::Vec3s& spin, double t, const double* start) {
  const double angle = spin.norm() * t;
  const coal::Quatf from(start[0], start[1], start[2], start[3]);
  if (angle == 0) return from.toRotationMatrix();
  const coal::Quatf turn(Eigen::AngleAxis<double>(angle, spin.normalized()));
  return (turn * from).toRotationMatrix();
}

std::vector<Motion> read_motions(const char* path) {
  std::ifstream file = protocol::open(path);
  std::uint32_t count;
  protocol::read_into(file, &count, 1);
  std::vector<Motion> rows(count);
  protocol::read_into(file, rows.data(), count);
  return rows;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const auto mesh_a = protocol::read_mesh(arguments[1]), mesh_b = protocol::read_mesh(arguments[2]);
  const auto a = build(mesh_a), b = build(mesh_b);
  const double reach_a = reach(mesh_a), reach_b = reach(mesh_b);
  const auto motions = read_motions(arguments[3]);

  // Up to the first contact, the end, or the seconds; 2 at the end.
  const auto first_contact = [&](const Motion& m, double seconds, bool& hit) {
    const auto start = std::chrono::steady_clock::now();
    const auto spin_a = vector(&m[4]), position = vector(&m[11]), velocity = vector(&m[14]), spin_b = vector(&m[17]);
    const double speed = velocity.norm() + spin_a.norm() * reach_a + spin_b.norm() * reach_b;
    for (double t = 0; t < 1;) {
      const coal::Transform3s at_a(turned(spin_a, t, &m[0]), coal::Vec3s::Zero());
      const coal::Transform3s at_b(turned(spin_b, t, &m[7]), coal::Vec3s(position + velocity * t));
      coal::DistanceRequest request;
      request.enable_signed_distance = false;
      coal::DistanceResult result;
      const double gap = coal::distance(a.get(), at_a, b.get(), at_b, request, result);
      hit = gap <= near;
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      if (hit || spent.count() > seconds) return t;
      t += gap / speed;
    }
    return 2.0;
  };
  protocol::serve({
      {"sweep",
       [&](std::size_t number, int repeats) {
         double time = 2;
         bool hit = false;
         const double most = std::numeric_limits<double>::infinity();
         const double spent =
             protocol::median_of(repeats, [&] { time = first_contact(motions.at(number), most, hit); });
         return protocol::ok(spent, time);
       }},
      {"advance",
       [&](std::size_t number, int seconds) {
         bool hit = false;
         const auto start = std::chrono::steady_clock::now();
         const double reached = first_contact(motions.at(number), seconds, hit);
         const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
         return protocol::ok(spent.count(), reached, hit ? 1 : 0);
       }},
  });
}
