// Embree's single rays against a mesh, in its fast and its robust mode.
//
// Arguments: a mesh as in protocol.hpp, and rays: u32 count, then rows of six f32, origin and direction. Rounded to
// f32, as Embree takes them. A question "MODE-WHAT BLOCK REPEATS", MODE fast or robust, WHAT closest or any, casts
// the rays of one block; the values are the number of hits and the sum of their parameters (0 for any).
#include <embree3/rtcore.h>

#include <limits>

#include "protocol.hpp"

namespace {

constexpr std::size_t kBlock = 1 << 16;

using Ray = std::array<float, 6>;

std::vector<Ray> read_rays(const char* path) {
  std::ifstream file = protocol::open(path);
  std::uint32_t count;
  protocol::read_into(file, &count, 1);
  std::vector<Ray> rays(count);
  protocol::read_into(file, rays.data(), count);
  return rays;
}

RTCScene scene(RTCDevice device, const protocol::Mesh& mesh, RTCSceneFlags flags) {
  RTCScene made = rtcNewScene(device);
  rtcSetSceneFlags(made, flags);
  rtcSetSceneBuildQuality(made, RTC_BUILD_QUALITY_HIGH);
  RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
  auto* points = static_cast<float*>(rtcSetNewGeometryBuffer(
      geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, mesh.vertices.size()));
  for (const auto& v : mesh.vertices)
    for (const double x : v) *points++ = static_cast<float>(x);
  auto* corners = static_cast<std::uint32_t*>(rtcSetNewGeometryBuffer(
      geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, mesh.triangles.size()));
  for (const auto& t : mesh.triangles)
    for (const std::uint32_t v : t) *corners++ = v;
  rtcCommitGeometry(geometry);
  rtcAttachGeometry(made, geometry);
  rtcReleaseGeometry(geometry);
  rtcCommitScene(made);
  return made;
}

void set(RTCRay& ray, const Ray& from) {
  ray.org_x = from[0], ray.org_y = from[1], ray.org_z = from[2];
  ray.dir_x = from[3], ray.dir_y = from[4], ray.dir_z = from[5];
  ray.tnear = 0, ray.tfar = std::numeric_limits<float>::infinity();
  ray.time = 0, ray.mask = 0xffffffffu, ray.id = 0, ray.flags = 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const protocol::Mesh mesh = protocol::read_mesh(arguments[1]);
  const std::vector<Ray> rays = read_rays(arguments[2]);
  RTCDevice device = rtcNewDevice("threads=1");
  const RTCScene scenes[] = {scene(device, mesh, RTC_SCENE_FLAG_NONE),
                             scene(device, mesh, RTC_SCENE_FLAG_ROBUST)};

  const auto block = [&](std::size_t number) {
    if (number * kBlock >= rays.size()) throw std::runtime_error("no such block");
    const Ray* first = rays.data() + number * kBlock;
    return std::pair{first, std::min(kBlock, rays.size() - number * kBlock)};
  };
  const auto closest = [&](RTCScene made, std::size_t number, int repeats) {
    const auto [first, many] = block(number);
    std::vector<float> t(many);
    std::vector<std::uint32_t> hit(many);
    const double whole = protocol::median_of(repeats, [&, first = first, many = many] {
      RTCIntersectContext context;
      rtcInitIntersectContext(&context);
      for (std::size_t i = 0; i < many; ++i) {
        RTCRayHit ray;
        set(ray.ray, first[i]);
        ray.hit.geomID = ray.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
        rtcIntersect1(made, &context, &ray);
        t[i] = ray.ray.tfar;
        hit[i] = ray.hit.geomID != RTC_INVALID_GEOMETRY_ID ? ray.hit.primID : 0xffffffffu;
      }
    });
    std::size_t hits = 0;
    double sum = 0;
    for (std::size_t i = 0; i < many; ++i)
      if (hit[i] != 0xffffffffu) ++hits, sum += t[i];
    return protocol::ok(whole / static_cast<double>(many), hits, sum);
  };
  const auto any = [&](RTCScene made, std::size_t number, int repeats) {
    const auto [first, many] = block(number);
    std::vector<std::uint8_t> hit(many);
    const double whole = protocol::median_of(repeats, [&, first = first, many = many] {
      RTCIntersectContext context;
      rtcInitIntersectContext(&context);
      for (std::size_t i = 0; i < many; ++i) {
        RTCRay ray;
        set(ray, first[i]);
        rtcOccluded1(made, &context, &ray);
        hit[i] = ray.tfar < 0;
      }
    });
    std::size_t hits = 0;
    for (const auto h : hit) hits += h;
    return protocol::ok(whole / static_cast<double>(many), hits, 0.0);
  };
  std::map<std::string, protocol::Handler> handlers;
  for (int robust : {0, 1}) {
    const std::string mode = robust ? "robust" : "fast";
    RTCScene made = scenes[robust];
    handlers[mode + "-closest"] = [=](std::size_t n, int repeats) { return closest(made, n, repeats); };
    handlers[mode + "-any"] = [=](std::size_t n, int repeats) { return any(made, n, repeats); };
  }
  protocol::serve(handlers);
  for (RTCScene made : scenes) rtcReleaseScene(made);
  rtcReleaseDevice(device);
}
