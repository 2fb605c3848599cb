// Coal, from the wheel `coal`: headers and library lie below site-packages/cmeel.prefix.
#include <coal/BVH/BVH_model.h>
#include <coal/collision.h>
#include <coal/distance.h>

#include "mesh_peer.hpp"

struct Coal {
  using Vector = coal::Vec3s;
  using Triangle = coal::Triangle;
  using OBBRSS = coal::OBBRSS;
  using AABB = coal::AABB;
  template <class Volume>
  using Model = coal::BVHModel<Volume>;
  template <class Volume>
  using Node = coal::BVNode<Volume>;
  using CollisionRequest = coal::CollisionRequest;
  using CollisionResult = coal::CollisionResult;
  using DistanceRequest = coal::DistanceRequest;
  using DistanceResult = coal::DistanceResult;

  static coal::Transform3s transform(const double* row) {
    return coal::Transform3s(coal::Quatf(row[0], row[1], row[2], row[3]), Vector(row[4], row[5], row[6]));
  }

  template <class... Arguments>
  static std::size_t collide(Arguments&&... arguments) {
    return coal::collide(std::forward<Arguments>(arguments)...);
  }

  template <class... Arguments>
  static double distance(Arguments&&... arguments) {
    return coal::distance(std::forward<Arguments>(arguments)...);
  }
};

int main(int count, char** arguments) { return run<Coal>(count, arguments); }
