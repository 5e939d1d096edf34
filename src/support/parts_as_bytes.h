// Numbers and arrays as bytes, for another process of the same build: a struct visits its parts with both classes.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "support/error.h"

namespace eigenscope {

/// A dense matrix of which both dimensions are free.
template <class Part>
concept FreeMatrix = requires {
  requires Part::RowsAtCompileTime == Eigen::Dynamic;
}
&&requires { requires Part::ColsAtCompileTime == Eigen::Dynamic; };

/// Appends each number, and each array with its size: the bytes between the members of a struct are not defined.
class PartWriter {
 public:
  explicit PartWriter(std::vector<std::byte>& bytes) : bytes_(bytes) {}

  template <class Part>
  void operator()(const Part& part) const {
    if constexpr (std::is_arithmetic_v<Part>) {
      append(&part, sizeof part);
    } else {
      if constexpr (FreeMatrix<Part>) {
        (*this)(part.rows());
        (*this)(part.cols());
      } else {
        (*this)(static_cast<Eigen::Index>(part.size()));
      }
      append(part.data(), static_cast<std::size_t>(part.size()) * sizeof(*part.data()));
    }
  }

 private:
  void append(const void* from, std::size_t size) const {
    const auto* const first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }

  std::vector<std::byte>& bytes_;
};

/// Takes the parts from the front of bytes. Throws InvalidArgument ("partitions") where these end before them.
class PartReader {
 public:
  explicit PartReader(std::span<const std::byte>& bytes) : bytes_(bytes) {}

  [[noreturn]] static void refuse() { throw InvalidArgument("partitions", "be complete"); }

  template <class Part>
  void operator()(Part& part) const {
    if constexpr (std::is_arithmetic_v<Part>) {
      take(&part, sizeof part);
    } else if constexpr (FreeMatrix<Part>) {
      const Eigen::Index rows = count_of(part), columns = count_of(part);
      if (rows > 0 && columns > most(part) / rows) refuse();
      part.resize(rows, columns);
      take(part.data(), static_cast<std::size_t>(part.size()) * sizeof(*part.data()));
    } else {
      part.resize(count_of(part));
      take(part.data(), static_cast<std::size_t>(part.size()) * sizeof(*part.data()));
    }
  }

 private:
  template <class Part>
  Eigen::Index most(const Part& part) const {
    return static_cast<Eigen::Index>(bytes_.size() / sizeof(*part.data()));
  }
  template <class Part>
  Eigen::Index count_of(const Part& part) const {
    Eigen::Index count = 0;
    (*this)(count);
    if (count < 0 || count > most(part)) refuse();
    return count;
  }
  void take(void* to, std::size_t size) const {
    if (size > bytes_.size()) refuse();
    if (size > 0) std::memcpy(to, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }

  std::span<const std::byte>& bytes_;
};

}  // namespace eigenscope
