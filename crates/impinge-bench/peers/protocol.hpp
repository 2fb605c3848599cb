// What the outside peers have in common: meshes, placements, the clock and the line protocol.
//
// Arguments: mesh a, mesh b, placements. A mesh file holds u32 vertices, u32 triangles, then the
// coordinates as f64 and the corners as u32; a placement file holds u32 rows, then rows of fourteen f64:
// quaternion (w x y z) and position of a, quaternion and position of b. All numbers are little-endian.
//
// Prints "ready", then answers each line "WORD NUMBER REPEATS" with "ok NANOSECONDS VALUES" or
// "error REASON". The time is the median of the repeats, after one repeat that does not count.
#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace protocol {

struct Mesh {
  std::vector<std::array<double, 3>> vertices;
  std::vector<std::array<std::uint32_t, 3>> triangles;
};

using Placement = std::array<double, 14>;

template <class T>
void read_into(std::ifstream& file, T* data, std::size_t count) {
  file.read(reinterpret_cast<char*>(data), static_cast<std::streamsize>(count * sizeof(T)));
  if (!file) throw std::runtime_error("a scene file ends too early");
}

inline std::ifstream open(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string("cannot open ") + path);
  return file;
}

inline Mesh read_mesh(const char* path) {
  std::ifstream file = open(path);
  std::uint32_t counts[2];
  read_into(file, counts, 2);
  Mesh mesh;
  mesh.vertices.resize(counts[0]);
  mesh.triangles.resize(counts[1]);
  read_into(file, mesh.vertices.data(), counts[0]);
  read_into(file, mesh.triangles.data(), counts[1]);
  return mesh;
}

inline std::vector<Placement> read_placements(const char* path) {
  std::ifstream file = open(path);
  std::uint32_t count;
  read_into(file, &count, 1);
  std::vector<Placement> rows(count);
  read_into(file, rows.data(), count);
  return rows;
}

// Median nanoseconds of `repeats` calls, after one that does not count.
template <class Question>
double median_of(int repeats, Question question) {
  std::vector<double> times;
  for (int i = 0; i <= repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    question();
    const auto end = std::chrono::steady_clock::now();
    if (i > 0) times.push_back(std::chrono::duration<double, std::nano>(end - start).count());
  }
  std::sort(times.begin(), times.end());
  return times.at(times.size() / 2);
}

// A sum over pairs that does not depend on their order: each pair is scrambled by splitmix64.
inline std::uint64_t scrambled(std::uint32_t i, std::uint32_t j) {
  std::uint64_t x = (std::uint64_t{i} << 32 | j) + 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// "ok NANOSECONDS VALUE VALUE…", doubles with all their digits.
template <class... Values>
std::string ok(double nanoseconds, Values... values) {
  std::ostringstream out;
  out.precision(17);
  out << "ok " << nanoseconds;
  ((out << ' ' << values), ...);
  return out.str();
}

using Handler = std::function<std::string(std::size_t number, int repeats)>;

// Answers until the input ends.
inline void serve(const std::map<std::string, Handler>& handlers) {
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string word;
    std::size_t number = 0;
    int repeats = 1;
    words >> word >> number >> repeats;
    const auto handler = handlers.find(word);
    try {
      if (handler == handlers.end()) throw std::runtime_error("unknown question " + word);
      std::cout << handler->second(number, std::max(repeats, 1)) << std::endl;
    } catch (const std::exception& problem) {
      std::cout << "error " << problem.what() << std::endl;
    }
  }
}

}  // namespace protocol
