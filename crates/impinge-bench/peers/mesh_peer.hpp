// The questions put to FCL and to Coal, which is FCL's descendant: the same calls under other names.
//
// `Library` names the types; see fcl.cpp and coal.cpp.
#pragma once
#include <memory>

#include "protocol.hpp"

template <class Library>
class MeshPeer {
 public:
  MeshPeer(const char* mesh_a, const char* mesh_b, const char* placements)
      : arrays_{Arrays(protocol::read_mesh(mesh_a)), Arrays(protocol::read_mesh(mesh_b))},
        placements_(protocol::read_placements(placements)) {}

  void serve() {
    const auto most = std::size_t{100000000};
    protocol::serve({
        {"relation", [&](std::size_t n, int repeats) { return collide(n, repeats, 1); }},
        {"pairs", [&](std::size_t n, int repeats) { return collide(n, repeats, most); }},
        {"distance", [&](std::size_t n, int repeats) { return distance(n, repeats); }},
        {"build-obbrss",
         [&](std::size_t n, int repeats) { return timed_build<typename Library::OBBRSS>(n, repeats); }},
        {"build-aabb",
         [&](std::size_t n, int repeats) { return timed_build<typename Library::AABB>(n, repeats); }},
    });
  }

 private:
  template <class Volume>
  using Model = typename Library::template Model<Volume>;
  using Oriented = Model<typename Library::OBBRSS>;

  struct Arrays {
    std::vector<typename Library::Vector> vertices;
    std::vector<typename Library::Triangle> triangles;

    explicit Arrays(const protocol::Mesh& mesh) {
      for (const auto& v : mesh.vertices) vertices.emplace_back(v[0], v[1], v[2]);
      for (const auto& t : mesh.triangles) triangles.emplace_back(t[0], t[1], t[2]);
    }
  };

  template <class Volume>
  static std::shared_ptr<Model<Volume>> build(const Arrays& arrays) {
    auto model = std::make_shared<Model<Volume>>();
    model->beginModel(arrays.triangles.size(), arrays.vertices.size());
    model->addSubModel(arrays.vertices, arrays.triangles);
    model->endModel();
    return model;
  }

  // The pair is built at the first question, so that a table of builds does not wait for it.
  void make_ready() {
    for (int i = 0; i < 2; ++i)
      if (!models_[i]) models_[i] = build<typename Library::OBBRSS>(arrays_[i]);
  }

  std::string collide(std::size_t number, int repeats, std::size_t most) {
    make_ready();
    const auto& row = placements_.at(number);
    const auto pose_a = Library::transform(&row[0]), pose_b = Library::transform(&row[7]);
    typename Library::CollisionRequest request;
    request.num_max_contacts = most;
    request.enable_contact = false;
    std::size_t count = 0;
    std::uint64_t digest = 0;
    // The result is made and thrown away within the measured time, as a caller would.
    const double time = protocol::median_of(repeats, [&] {
      typename Library::CollisionResult result;
      count = Library::collide(models_[0].get(), pose_a, models_[1].get(), pose_b, request, result);
    });
    typename Library::CollisionResult result;
    Library::collide(models_[0].get(), pose_a, models_[1].get(), pose_b, request, result);
    for (std::size_t i = 0; i < result.numContacts(); ++i)
      digest += protocol::scrambled(result.getContact(i).b1, result.getContact(i).b2);
    return protocol::ok(time, count, digest);
  }

  std::string distance(std::size_t number, int repeats) {
    make_ready();
    const auto& row = placements_.at(number);
    const auto pose_a = Library::transform(&row[0]), pose_b = Library::transform(&row[7]);
    typename Library::DistanceRequest request;
    request.enable_nearest_points = true;
    double gap = 0;
    const double time = protocol::median_of(repeats, [&] {
      typename Library::DistanceResult result;
      gap = Library::distance(models_[0].get(), pose_a, models_[1].get(), pose_b, request, result);
    });
    return protocol::ok(time, gap);
  }

  template <class Volume>
  std::string timed_build(std::size_t number, int repeats) {
    const Arrays& arrays = arrays_[number % 2];
    std::shared_ptr<Model<Volume>> model;
    const double time = protocol::median_of(repeats, [&] { model = build<Volume>(arrays); });
    // One node of the tree for each volume, and the index of each triangle.
    const double triangles = double(arrays.triangles.size());
    const double bytes = double(model->getNumBVs()) * sizeof(typename Library::template Node<Volume>) +
                         triangles * sizeof(unsigned);
    return protocol::ok(time, bytes / triangles);
  }

  Arrays arrays_[2];
  std::vector<protocol::Placement> placements_;
  std::shared_ptr<Oriented> models_[2];
};

template <class Library>
int run(int count, char** arguments) {
  try {
    if (count != 4) throw std::runtime_error("three arguments: mesh a, mesh b, placements");
    MeshPeer<Library>(arguments[1], arguments[2], arguments[3]).serve();
    return 0;
  } catch (const std::exception& problem) {
    std::cerr << problem.what() << std::endl;
    return 1;
  }
}
