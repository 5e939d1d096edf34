// model.safetensors.index.json or pytorch_model.bin.index.json: which file of a sharded checkpoint holds which tensor.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/safetensors.h"
#include "io/byte_source.h"

namespace eigenscope {

class ShardIndex {
 public:
  /// The largest file that is read, in bytes.
  static constexpr std::uint64_t kLargestFile = 100'000'000;

  /// Parses `text`; `name` is what messages call it. Throws FormatError for text that is not a JSON
  /// object in UTF-8 with an object of strings "weight_map", has a tensor twice, or names a file that
  /// is not a plain one beside the index: with a slash, a backslash, a colon or a control character in
  /// it, of more than 255 bytes, or not ending with ".safetensors" or ".bin".
  static ShardIndex parse(std::string_view text, std::string name);

  /// Reads the index from a file. Throws FormatError also when it is larger than `kLargestFile`.
  static ShardIndex read(ByteSource& source);

  const std::string& name() const noexcept { return name_; }
  /// The names of the files, in the order of their bytes.
  std::set<std::string> files() const;

  /// Whether the tensor of this name counts in a file: false where the index has it in another one.
  bool counts(const std::string& tensor, const std::string& file) const;

  /// Throws FormatError naming the first tensor that the index has in a file which does not hold it.
  /// Files are told apart by what follows the last slash of their names. Tensors that the index
  /// leaves out do no harm.
  void check(const Safetensors& tensors) const;

 private:
  friend class ShardIndexReader;
  std::string name_;
  std::map<std::string, std::string> file_of_;  // by tensor
};

/// The part of a path after its last slash.
std::string file_name(const std::string& path);

/// One checkpoint of several files in any order, `index` null when there is none: the files together
/// are the checkpoint then. Of a tensor in several files the one counts that the index names. Throws FormatError,
/// naming the file that the index has and `shards` lack; and as ShardIndex::check and Safetensors do.
std::shared_ptr<const Safetensors> open_shards(std::vector<std::shared_ptr<ByteSource>> shards,
                                               const ShardIndex* index);

}  // namespace eigenscope
