// Makes files of torch.save in memory for the tests: the pickle of a value and the ZIP archive around it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "safetensors_writer.h"

namespace eigenscope::testing {

/// Parts of a pickle, each of which pushes one value.
inline std::string pickled(const std::string& text) {
  std::string code = "X";
  for (int shift = 0; shift < 32; shift += 8)
    code += static_cast<char>(static_cast<std::uint32_t>(text.size()) >> shift & 255u);
  return code + text;
}
inline std::string pickled(std::int32_t number) {
  std::string code = "J";
  for (int shift = 0; shift < 32; shift += 8)
    code += static_cast<char>(static_cast<std::uint32_t>(number) >> shift & 255u);
  return code;
}
inline std::string pickled_tuple(const std::vector<std::int32_t>& numbers) {
  std::string code = "(";
  for (const std::int32_t number : numbers) code += pickled(number);
  return code + "t";
}
inline std::string pickled_dict(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string code = "}(";
  for (const auto& [key, value] : entries) code += pickled(key) + value;
  return code + "u";
}

/// A tensor of a whole storage, or of a part of it.
struct PickledTensor {
  std::string type;  ///< "FloatStorage"
  std::string file;  ///< of its storage
  std::vector<std::int32_t> shape, strides;
  std::int32_t elements;   ///< of the storage
  std::string dtype = {};  ///< "float8_e4m3fn" with an UntypedStorage

  std::string code() const {
    const std::string storage = "(" + pickled("storage") +
                                (dtype.empty() ? "ctorch\n" : "ctorch.storage\n") + type + "\n" +
                                pickled(file) + pickled("cpu") + pickled(elements) + "tQ";
    return std::string("ctorch._utils\n_rebuild_tensor_") + (dtype.empty() ? "v2" : "v3") + "\n(" +
           storage + pickled(0) + pickled_tuple(shape) + pickled_tuple(strides) +
           "\x89"
           "ccollections\nOrderedDict\n)R" +
           (dtype.empty() ? "" : "ctorch\n" + dtype + "\n") + "tR";
  }
};

/// A matrix of F32 in a storage of its own.
inline std::string pickled_matrix(const std::string& file, std::int32_t rows,
                                  std::int32_t columns) {
  return PickledTensor{"FloatStorage", file, {rows, columns}, {columns, 1}, rows * columns}.code();
}

using TorchFiles = std::vector<std::pair<std::string, Bytes>>;

/// The archive with the pickle of `value`, which is one of the parts above, and other files such as "data/0"; `flags`
/// are those of each entry.
inline Bytes torch_bytes(const std::string& value, const TorchFiles& files,
                         std::uint16_t flags = 0) {
  const std::string pickle = std::string("\x80\x02", 2) + value + ".";
  TorchFiles all{{"data.pkl", Bytes()}};
  for (const char c : pickle) all.front().second.push_back(static_cast<std::byte>(c));
  all.insert(all.end(), files.begin(), files.end());
  Bytes archive, directory;
  const auto entry = [&](Bytes& out, const std::string& name, const Bytes& data) {
    append(out, std::uint16_t{20});  // version
    append(out, flags);
    append(out, std::uint16_t{0});  // stored
    append(out, std::uint32_t{0});  // time
    append(out, std::uint32_t{0});  // checksum, which is not read
    append(out, static_cast<std::uint32_t>(data.size()));
    append(out, static_cast<std::uint32_t>(data.size()));
    append(out, static_cast<std::uint16_t>(name.size()));
    append(out, std::uint16_t{0});  // extra
  };
  const auto letters = [](Bytes& out, const std::string& text) {
    for (const char c : text) out.push_back(static_cast<std::byte>(c));
  };
  for (const auto& [file, data] : all) {
    const std::string name = "archive/" + file;
    const auto header = static_cast<std::uint32_t>(archive.size());
    letters(archive, "PK\x03\x04");
    entry(archive, name, data);
    letters(archive, name);
    archive.insert(archive.end(), data.begin(), data.end());
    letters(directory, "PK\x01\x02");
    append(directory, std::uint16_t{20});
    entry(directory, name, data);
    directory.resize(directory.size() + 10);  // comment, disk, attributes
    append(directory, header);
    letters(directory, name);
  }
  const auto start = static_cast<std::uint32_t>(archive.size());
  archive.insert(archive.end(), directory.begin(), directory.end());
  letters(archive, "PK\x05\x06");
  archive.resize(archive.size() + 4);  // disks
  append(archive, static_cast<std::uint16_t>(all.size()));
  append(archive, static_cast<std::uint16_t>(all.size()));
  append(archive, static_cast<std::uint32_t>(directory.size()));
  append(archive, start);
  append(archive, std::uint16_t{0});  // comment
  return archive;
}

inline Bytes as_bytes(const std::string& text) {
  Bytes bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

}  // namespace eigenscope::testing
