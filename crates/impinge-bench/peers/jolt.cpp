// Contact manifolds of Jolt with internal-edge removal: convex bodies on one mesh, frame by frame.
//
// Argument: a file of a mesh as in protocol.hpp; u32 frames and their shifts, three f64 each; u32 bodies, each u32 kind
// (0 box: half extents; 1 capsule along z: half height, radius; 2 ball: radius; 3 hull: corners), u32 numbers and the
// numbers as f64, position and quaternion (x y z w), seven f64. A question "frame FRAME REPEATS" is about all bodies;
// the values are the nanoseconds a body of each kind, then each contact: body, point on the mesh, normal out of it, depth.
#include <Jolt/Jolt.h>

#include <Jolt/Core/Factory.h>
#include <Jolt/Physics/Collision/CollideShape.h>
#include <Jolt/Physics/Collision/CollisionCollectorImpl.h>
#include <Jolt/Physics/Collision/CollisionDispatch.h>
#include <Jolt/Physics/Collision/InternalEdgeRemovingCollector.h>
#include <Jolt/Physics/Collision/ManifoldBetweenTwoFaces.h>
#include <Jolt/Physics/Collision/Shape/BoxShape.h>
#include <Jolt/Physics/Collision/Shape/CapsuleShape.h>
#include <Jolt/Physics/Collision/Shape/ConvexHullShape.h>
#include <Jolt/Physics/Collision/Shape/MeshShape.h>
#include <Jolt/Physics/Collision/Shape/SphereShape.h>
#include <Jolt/Physics/Collision/ShapeFilter.h>
#include <Jolt/RegisterTypes.h>

#include "protocol.hpp"

namespace {

constexpr float kMargin = 0.002f;

struct Body {
  std::uint32_t kind;
  JPH::RefConst<JPH::Shape> shape;
  double place[7];
};

struct Told {
  std::size_t body;
  JPH::Vec3 point, normal;
  float depth;
};

// Clips the faces of each hit to a manifold, as Jolt's contact constraints do.
struct Collector : JPH::CollideShapeCollector {
  std::size_t body = 0;
  JPH::Vec3 base;
  std::vector<Told>* told = nullptr;
  void AddHit(const JPH::CollideShapeResult& hit) override {
    JPH::ContactPoints on_body, on_mesh;
    const JPH::Vec3 axis = hit.mPenetrationAxis.NormalizedOr(JPH::Vec3(0, 0, -1));
    JPH::ManifoldBetweenTwoFaces(hit.mContactPointOn1, hit.mContactPointOn2, hit.mPenetrationAxis, 0.02f * 0.02f,
                                 hit.mShape1Face, hit.mShape2Face, on_body, on_mesh);
    if (on_body.size() > 4) JPH::PruneContactPoints(axis, on_body, on_mesh);
    for (JPH::uint k = 0; k < on_body.size(); ++k)
      told->push_back({body, on_mesh[k] + base, -axis, (on_body[k] - on_mesh[k]).Dot(axis)});
  }
};

template <class Settings>
JPH::RefConst<JPH::Shape> made(const Settings& settings) {
  const auto result = settings.Create();
  if (result.HasError()) throw std::runtime_error(result.GetError().c_str());
  return result.Get();
}

std::uint32_t number(std::ifstream& file) {
  std::uint32_t read;
  protocol::read_into(file, &read, 1);
  return read;
}

JPH::RefConst<JPH::Shape> mesh(std::ifstream& file) {
  std::vector<std::array<double, 3>> points(number(file));
  std::vector<std::array<std::uint32_t, 3>> corners(number(file));
  protocol::read_into(file, points.data(), points.size());
  protocol::read_into(file, corners.data(), corners.size());
  JPH::VertexList vertices;
  for (const auto& p : points) vertices.push_back(JPH::Float3(float(p[0]), float(p[1]), float(p[2])));
  JPH::IndexedTriangleList triangles;
  for (const auto& t : corners) triangles.push_back(JPH::IndexedTriangle(t[0], t[1], t[2], 0));
  return made(JPH::MeshShapeSettings(vertices, triangles));
}

Body body(std::ifstream& file) {
  Body read;
  read.kind = number(file);
  std::vector<double> n(number(file));
  protocol::read_into(file, n.data(), n.size());
  protocol::read_into(file, read.place, 7);
  if (read.kind == 0) read.shape = new JPH::BoxShape(JPH::Vec3(float(n.at(0)), float(n.at(1)), float(n.at(2))));
  if (read.kind == 1) read.shape = new JPH::CapsuleShape(float(n.at(0)), float(n.at(1)));
  if (read.kind == 2) read.shape = new JPH::SphereShape(float(n.at(0)));
  if (read.kind == 3) {
    JPH::Array<JPH::Vec3> corners;
    for (std::size_t i = 0; i + 2 < n.size(); i += 3)
      corners.push_back(JPH::Vec3(float(n[i]), float(n[i + 1]), float(n[i + 2])));
    read.shape = made(JPH::ConvexHullShapeSettings(corners));
  }
  return read;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  JPH::RegisterDefaultAllocator();
  JPH::Factory::sInstance = new JPH::Factory();
  JPH::RegisterTypes();
  std::ifstream file = protocol::open(arguments[1]);
  const auto ground = mesh(file);
  std::vector<std::array<double, 3>> shifts(number(file));
  protocol::read_into(file, shifts.data(), shifts.size());
  std::vector<Body> bodies(number(file));
  for (auto& one : bodies) one = body(file);

  JPH::CollideShapeSettings settings;
  settings.mCollectFacesMode = JPH::ECollectFacesMode::CollectFaces;
  settings.mMaxSeparationDistance = kMargin;

  protocol::serve({{"frame", [&](std::size_t frame, int) {
    const auto& shift = shifts.at(frame);
    std::vector<Told> told;
    std::array<double, 4> spent{}, asked{};
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const Body& one = bodies[i];
      const double* p = one.place;
      const auto start = std::chrono::steady_clock::now();
      const JPH::Vec3 at = JPH::Vec3(float(p[0] + shift[0]), float(p[1] + shift[1]), float(p[2] + shift[2]));
      const JPH::Quat turn = JPH::Quat(JPH::Vec4(float(p[3]), float(p[4]), float(p[5]), float(p[6]))).Normalized();
      // Around the body, so that the coordinates are small.
      JPH::Mat44 own = JPH::Mat44::sRotationTranslation(turn, JPH::Vec3::sZero());
      // Jolt's capsules stand along y.
      if (one.kind == 1) own = own * JPH::Mat44::sRotation(JPH::Vec3::sAxisX(), 0.5f * JPH::JPH_PI);
      own = own.PreTranslated(one.shape->GetCenterOfMass());
      const JPH::Mat44 below = JPH::Mat44::sTranslation(ground->GetCenterOfMass() - at);
      Collector collector;
      collector.body = i;
      collector.base = at;
      collector.told = &told;
      JPH::InternalEdgeRemovingCollector::sCollideShapeVsShape(
          one.shape, ground, JPH::Vec3::sReplicate(1), JPH::Vec3::sReplicate(1), own, below, JPH::SubShapeIDCreator(),
          JPH::SubShapeIDCreator(), settings, collector);
      spent[one.kind] += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
      asked[one.kind] += 1;
    }
    std::ostringstream out;
    out.precision(9);
    out << "ok " << (spent[0] + spent[1] + spent[2] + spent[3]) / std::max<double>(bodies.size(), 1);
    for (int k = 0; k < 4; ++k) out << ' ' << spent[k] / std::max(asked[k], 1.0);
    for (const Told& t : told) {
      out << ' ' << t.body;
      for (int k = 0; k < 3; ++k) out << ' ' << t.point[k];
      for (int k = 0; k < 3; ++k) out << ' ' << t.normal[k];
      out << ' ' << t.depth;
    }
    return out.str();
  }}});
}
