#include "checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 20;
constexpr Eigen::Index kBlockElements = Eigen::Index{1} << 17;  // 1 MiB of double

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    const auto value = std::to_integer<std::size_t>(byte);
    text += {' ', kDigits[value / 16], kDigits[value % 16]};
  }
  return text;
}

std::uint64_t read_header_length(ByteSource& source) {
  const auto fail = [&](const std::string& message) { throw FormatError(source.name(), message); };
  if (source.size() < kLengthBytes) {
    fail(
        "a .safetensors file must begin with the 8 bytes of its header's length, but this file "
        "has " +
        std::to_string(source.size()) + " bytes in all");
  }
  std::array<std::byte, kLengthBytes> raw;
  source.read(0, raw);
  std::uint64_t length = 0;
  std::memcpy(&length, raw.data(), sizeof length);
  const bool fits = length <= Safetensors::kLargestHeader && length <= source.size() - kLengthBytes;
  std::array<std::byte, 1> next{};  // of a file that was cut short it is still a '{'
  if (!fits && source.size() > kLengthBytes) source.read(kLengthBytes, next);
  if (!fits && next.front() != std::byte{'{'}) {
    fail(
        "it is not a .safetensors file: it must begin with the length of a header in 8 bytes and a "
        "'{', but it begins with the bytes" +
        hexadecimal(raw));
  }
  const std::string claim = "its header claims " + std::to_string(length) + " bytes";
  if (length > Safetensors::kLargestHeader) {
    fail(claim + "; the format allows at most " + std::to_string(Safetensors::kLargestHeader));
  }
  if (length > source.size() - kLengthBytes) {
    fail(claim + ", but the file ends after " + std::to_string(source.size() - kLengthBytes));
  }
  return length;
}

/// A shape with a zero in it may hold any other size, and a 64-bit file may outgrow the address
/// space of WASM: neither may reach Eigen's signed, 32-bit there, index type.
bool fits_index(std::uint64_t rows, std::uint64_t columns) {
  constexpr auto kLargest =
      static_cast<std::uint64_t>(std::numeric_limits<Eigen::Index>::max()) / sizeof(double);
  return rows <= kLargest && columns <= kLargest && (rows == 0 || columns <= kLargest / rows);
}

}  // namespace

Safetensors::Safetensors(std::shared_ptr<ByteSource> source) : name_(source->name()) {
  header_ = add_shard(std::move(source));
}

Safetensors::Safetensors(std::vector<std::shared_ptr<ByteSource>> shards, std::string name,
                         const Counts& counts)
    : name_(std::move(name)) {
  if (shards.empty()) throw InvalidArgument("shards", "have at least one file");
  for (std::shared_ptr<ByteSource>& shard : shards) {
    const std::size_t number = shards_.size();
    SafetensorsHeader header = add_shard(std::move(shard));
    for (auto& [tensor, info] : header.tensors) {
      if (!counts(tensor, *shards_[number].source)) continue;
      info.shard = number;
      const auto [place, added] = header_.tensors.emplace(tensor, std::move(info));
      if (added) continue;
      refuse_item(tensor, {"it is both in ", shard_name(place->second.shard), " and in ",
                           shard_name(number)});
    }
    header_.metadata.merge(header.metadata);
  }
}

SafetensorsHeader Safetensors::add_shard(std::shared_ptr<ByteSource> source) {
  const std::uint64_t length = read_header_length(*source);
  const std::string text = source->text_at(kLengthBytes, length);
  const std::uint64_t start = kLengthBytes + length;
  shards_.push_back({std::move(source), start});
  const ByteSource& file = *shards_.back().source;
  try {
    return parse_safetensors_header(text, file.size() - start, file.name());
  } catch (const FormatError& error) {
    throw in_file(error, file.name());
  }
}

std::uint64_t Safetensors::bytes_read() const noexcept {
  std::uint64_t sum = 0;
  for (const Shard& shard : shards_) sum += shard.source->bytes_read();
  return sum;
}

const TensorInfo& Safetensors::tensor(const std::string& name) const {
  const auto entry = header_.tensors.find(name);
  if (entry == header_.tensors.end()) {
    refuse_item(name, "there is no such tensor in " + name_);
  }
  return entry->second;
}

void Safetensors::read_elements(const std::string& name, std::uint64_t first,
                                std::span<double> out) const {
  read_as(name, first, out);
}

void Safetensors::read_elements(const std::string& name, std::uint64_t first,
                                std::span<float> out) const {
  read_as(name, first, out);
}

template <class Real>
void Safetensors::read_as(const std::string& name, std::uint64_t first, std::span<Real> out) const {
  const TensorInfo& info = tensor(name);
  if (!is_decodable(info.dtype)) {
    refuse_item(name, {"its type must be F16, BF16, F32 or F64 to be read as numbers, but it is ",
                       dtype_name(info.dtype), " in ", shard_name(info.shard)});
  }
  const std::uint64_t count = element_count(info);
  if (first > count || out.size() > count - first) {
    refuse_item(name, {"the tensor has only ", std::to_string(count), " elements"});
  }
  const std::uint64_t width = dtype_bits(info.dtype) / 8;
  const auto most =
      static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes / width, out.size()));
  // Not a vector, which would be written twice.
  const std::unique_ptr<std::byte[]> chunk(new std::byte[most * width]);
  const Shard& shard = shards_[info.shard];
  std::uint64_t offset = shard.data_start + info.begin + first * width;
  while (!out.empty()) {
    const std::size_t n = std::min(out.size(), most);
    const std::span<std::byte> raw(chunk.get(), n * width);
    shard.source->read(offset, raw);
    decode<Real>(info.dtype, raw, out.first(n));
    out = out.subspan(n);
    offset += raw.size();
  }
}

void Safetensors::read_bytes(const std::string& name, std::uint64_t first,
                             std::span<std::byte> out) const {
  const TensorInfo& info = tensor(name);
  const std::uint64_t size = info.end - info.begin;
  if (first > size || out.size() > size - first)
    refuse_item(name, {"the tensor has only ", std::to_string(size), " bytes"});
  const Shard& shard = shards_[info.shard];
  shard.source->read(shard.data_start + info.begin + first, out);
}

Eigen::MatrixXd Safetensors::read_rows(const std::string& name, std::uint64_t begin,
                                       std::uint64_t end) const {
  const TensorInfo& info = tensor(name);
  if (info.shape.size() != 2) {
    refuse_item(name, {"its shape ", shape_text(info), " is not a matrix"});
  }
  if (begin > end || end > info.shape[0]) {
    refuse_item(name, {"its shape ", shape_text(info), " has no rows ", std::to_string(begin),
                       " to ", std::to_string(end)});
  }
  const std::uint64_t columns = info.shape[1];
  if (!fits_index(end - begin, columns)) {
    refuse_item(name, {"its shape ", shape_text(info), " is too large to read"});
  }
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(end - begin), static_cast<Eigen::Index>(columns));
  if (rows.size() == 0) return rows;
  // In blocks of rows: a whole second matrix in the file's order would double the memory.
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto most = std::max<Eigen::Index>(1, kBlockElements / rows.cols());
  RowMajor block(std::min(most, rows.rows()), rows.cols());
  for (Eigen::Index i = 0; i < rows.rows(); i += most) {
    const Eigen::Index n = std::min(most, rows.rows() - i);
    read_elements(name, (begin + static_cast<std::uint64_t>(i)) * columns,
                  std::span(block.data(), static_cast<std::size_t>(n * rows.cols())));
    for (Eigen::Index j = 0; j < rows.cols(); ++j) {
      const double* from = block.data() + j;
      double* const to = rows.data() + j * rows.rows() + i;
      for (Eigen::Index k = 0; k < n; ++k, from += rows.cols()) to[k] = *from;
    }
  }
  return rows;
}

std::vector<double> Safetensors::read_vector(const std::string& name) const {
  const TensorInfo& info = tensor(name);
  if (info.shape.size() != 1) {
    refuse_item(name, {"its shape ", shape_text(info), " is not a vector"});
  }
  if (!fits_index(info.shape[0], 1)) {
    refuse_item(name, {"its shape ", shape_text(info), " is too large to read"});
  }
  std::vector<double> values(static_cast<std::size_t>(info.shape[0]));
  read_elements(name, 0, values);
  return values;
}

}  // namespace eigenscope
