// FCL, from Debian's libfcl-dev.
#include <fcl/fcl.h>

#include "mesh_peer.hpp"

struct Fcl {
  using Vector = fcl::Vector3d;
  using Triangle = fcl::Triangle;
  using OBBRSS = fcl::OBBRSSd;
  using AABB = fcl::AABBd;
  template <class Volume>
  using Model = fcl::BVHModel<Volume>;
  template <class Volume>
  using Node = fcl::BVNode<Volume>;
  using CollisionRequest = fcl::CollisionRequestd;
  using CollisionResult = fcl::CollisionResultd;
  using DistanceRequest = fcl::DistanceRequestd;
  using DistanceResult = fcl::DistanceResultd;

  static fcl::Transform3d transform(const double* row) {
    fcl::Transform3d pose = fcl::Transform3d::Identity();
    pose.linear() = fcl::Quaterniond(row[0], row[1], row[2], row[3]).toRotationMatrix();
    pose.translation() = Vector(row[4], row[5], row[6]);
    return pose;
  }

  template <class... Arguments>
  static std::size_t collide(Arguments&&... arguments) {
    return fcl::collide(std::forward<Arguments>(arguments)...);
  }

  template <class... Arguments>
  static double distance(Arguments&&... arguments) {
    return fcl::distance(std::forward<Arguments>(arguments)...);
  }
};

int main(int count, char** arguments) { return run<Fcl>(count, arguments); }
