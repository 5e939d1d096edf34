#include "checkpoint/shard_index.h"

#include <algorithm>
#include <span>
#include <utility>

#include "io/file_format.h"
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {

/// Keeps the strings of the outermost object's "weight_map".
class ShardIndexReader final : public JsonEvents {
 public:
  explicit ShardIndexReader(ShardIndex& index) : index_(index) {}

  void begin_object() override {
    if (depth_ == 1 && key_ == kMap) {
      if (has_map_) fail("duplicate key '" + std::string(kMap) + "'");
      has_map_ = true;
    } else if (in_map()) {
      refuse_value();
    }
    if (++depth_ > kDeepest) fail("it nests deeper than 32 levels");
  }
  void begin_array() override {
    if (depth_ == 0) fail("it must be a JSON object");
    if (in_map()) refuse_value();
    if (++depth_ > kDeepest) fail("it nests deeper than 32 levels");
  }
  void end_object() override { leave(); }
  void end_array() override { leave(); }
  void key(std::string&& name) override {
    if (depth_ == 1)
      key_ = std::move(name);
    else if (in_map())
      tensor_ = std::move(name);
  }
  void string(std::string&& value) override {
    if (!in_map()) return other();
    check_file(value);
    if (!index_.file_of_.emplace(tensor_, std::move(value)).second) {
      refuse_item(tensor_, {"it is in ", index_.name_, " twice"});
    }
  }
  void natural(std::uint64_t) override { other(); }
  void other_scalar(std::string&&) override { other(); }
  void null() override { other(); }

  void finish() const {
    if (!has_map_) fail("it has no object '" + std::string(kMap) + "'");
    if (index_.file_of_.empty()) fail("its '" + std::string(kMap) + "' is empty");
  }

 private:
  static constexpr std::string_view kMap = "weight_map";
  static constexpr int kDeepest = 32;

  bool in_map() const { return depth_ == 2 && key_ == kMap; }
  void leave() {
    if (--depth_ == 1) key_.clear();
  }
  void other() const {
    if (depth_ == 0) fail("it must be a JSON object");
    if (in_map()) refuse_value();
  }

  void check_file(const std::string& file) const {
    constexpr std::size_t kLongest = 255;  // of most file systems
    const bool plain =
        file.size() <= kLongest && std::none_of(file.begin(), file.end(), [](unsigned char c) {
          return c < ' ' || c == 0x7f || c == '/' || c == '\\' || c == ':';
        });
    if (plain && (file.ends_with(".safetensors") || file.ends_with(".bin"))) return;
    refuse_item(tensor_, {"its file '", shown_name(file), "' in ", index_.name_,
                          " is not the name of a .safetensors or .bin file in the same folder"});
  }

  [[noreturn]] void refuse_value() const {
    refuse_item(tensor_, {"its file in ", index_.name_, " must be a string"});
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw FormatError(index_.name_, message);
  }

  ShardIndex& index_;
  int depth_ = 0;
  bool has_map_ = false;
  std::string key_;     // of the outermost object
  std::string tensor_;  // of the map
};

ShardIndex ShardIndex::parse(std::string_view text, std::string name) {
  ShardIndex index;
  index.name_ = std::move(name);
  ShardIndexReader reader(index);
  parse_json(text, index.name_, reader);
  reader.finish();
  return index;
}

ShardIndex ShardIndex::read(ByteSource& source) {
  return parse(read_json_text(source, kLargestFile, "an index"), source.name());
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::set<std::string> ShardIndex::files() const {
  std::set<std::string> files;
  for (const auto& [tensor, file] : file_of_) files.insert(file);
  return files;
}

bool ShardIndex::counts(const std::string& tensor, const std::string& file) const {
  const auto entry = file_of_.find(tensor);
  return entry == file_of_.end() || entry->second == file_name(file);
}

void ShardIndex::check(const Safetensors& tensors) const {
  for (const auto& [tensor, file] : file_of_) {
    const auto entry = tensors.tensors().find(tensor);
    const bool there = entry != tensors.tensors().end() &&
                       file_name(tensors.shard_name(entry->second.shard)) == file;
    if (!there) {
      refuse_item(tensor, {"it is not in ", shown_name(file), ", where ", name_, " has it"});
    }
  }
}

std::shared_ptr<const Safetensors> open_shards(std::vector<std::shared_ptr<ByteSource>> shards,
                                               const ShardIndex* index) {
  if (index == nullptr) {
    std::string name = shards.empty() ? "" : shards.front()->name();
    if (shards.size() > 1) name += " and " + std::to_string(shards.size() - 1) + " other files";
    return std::make_shared<const Safetensors>(std::move(shards), std::move(name));
  }
  for (const std::string& file : index->files()) {
    const bool there = std::any_of(shards.begin(), shards.end(), [&](const auto& shard) {
      return file_name(shard->name()) == file;
    });
    if (!there) refuse_item(file, {"it is missing; ", index->name(), " names it"});
  }
  auto tensors = std::make_shared<const Safetensors>(
      std::move(shards), index->name(), [&](const std::string& tensor, const ByteSource& shard) {
        return index->counts(tensor, shard.name());
      });
  index->check(*tensors);
  return tensors;
}

}  // namespace eigenscope
