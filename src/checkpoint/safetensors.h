// Reads a .safetensors file, or the several files of one checkpoint, by ranges: the headers once, then
// only the rows that are asked for.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/safetensors_header.h"
#include "io/byte_source.h"

namespace eigenscope {

/// The tensors of one open .safetensors file or of several, its shards. Reads go through one buffer of
/// at most 1 MiB, whatever the tensor's size, and need no alignment. Numbers come out as `decode`
/// makes them.
class Safetensors {
 public:
  /// The longest header that the format allows, in bytes.
  static constexpr std::uint64_t kLargestHeader = 100'000'000;

  /// Reads and checks the header. Throws FormatError, naming the tensor (or the file), for a file
  /// that the format does not allow; see parse_safetensors_header. Never reads tensor data.
  explicit Safetensors(std::shared_ptr<ByteSource> source);

  /// Whether the tensor called `name` counts in one of several files.
  using Counts = std::function<bool(const std::string& name, const ByteSource& shard)>;

  /// The tensors of all `shards`, at least one and none null, which messages together call `name`; without
  /// those for which `counts` is false. Throws FormatError as above, and naming a tensor that is in two of
  /// them; InvalidArgument ("shards") when there is none.
  Safetensors(
      std::vector<std::shared_ptr<ByteSource>> shards, std::string name,
      const Counts& counts = [](const std::string&, const ByteSource&) { return true; });

  /// Every tensor by name, in the order of the bytes of the names.
  const std::map<std::string, TensorInfo>& tensors() const noexcept { return header_.tensors; }
  /// The free text of the entry "__metadata__", of the first file that has a key.
  const std::map<std::string, std::string>& metadata() const noexcept { return header_.metadata; }
  /// Its name in messages: the file's name where there is one.
  const std::string& name() const noexcept { return name_; }
  /// The name of a file, by TensorInfo::shard.
  const std::string& shard_name(std::size_t shard) const {
    return shards_.at(shard).source->name();
  }
  /// Bytes that the files have delivered so far, headers included.
  std::uint64_t bytes_read() const noexcept;

  /// Forgets the tensors for whose names `keeps` is false.
  void keep(const std::function<bool(const std::string& name)>& keeps) {
    std::erase_if(header_.tensors, [&](const auto& tensor) { return !keeps(tensor.first); });
  }

  /// The tensor called `name`. Throws FormatError naming it when it is not there.
  const TensorInfo& tensor(const std::string& name) const;

  /// Fills `out` with the elements from `first` on, counted in row-major order.
  /// Throws FormatError naming the tensor when it is not there, not of a type that can be read as
  /// numbers (F16, BF16, F32, F64), too short, or when its bytes cannot be read.
  void read_elements(const std::string& name, std::uint64_t first, std::span<double> out) const;
  void read_elements(const std::string& name, std::uint64_t first, std::span<float> out) const;

  /// Fills `out` with the stored bytes of a tensor of any type, from byte `first` of it on. Throws FormatError naming
  /// the tensor when it is not there, too short, or when its bytes cannot be read.
  void read_bytes(const std::string& name, std::uint64_t first, std::span<std::byte> out) const;

  /// Rows [begin, end) of a tensor of two dimensions: (end - begin) x columns.
  /// Throws FormatError as above, for another number of dimensions, and for rows outside it.
  Eigen::MatrixXd read_rows(const std::string& name, std::uint64_t begin, std::uint64_t end) const;

  /// All of a tensor of one dimension. Throws FormatError as above.
  std::vector<double> read_vector(const std::string& name) const;

 private:
  struct Shard {
    std::shared_ptr<ByteSource> source;
    std::uint64_t data_start;  // in the file, bytes
  };

  /// Reads the header of a file and keeps the file.
  SafetensorsHeader add_shard(std::shared_ptr<ByteSource> source);
  template <class Real>
  void read_as(const std::string& name, std::uint64_t first, std::span<Real> out) const;

  std::string name_;
  std::vector<Shard> shards_;
  SafetensorsHeader header_;
};

}  // namespace eigenscope
