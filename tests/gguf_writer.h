// Makes GGUF files in memory for the tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "safetensors_writer.h"

namespace eigenscope::testing {

class GgufWriter {
 public:
  GgufWriter& text(const std::string& key, const std::string& value) {
    begin(key, 8);
    append_text(entries_, value);
    return *this;
  }
  GgufWriter& integer(const std::string& key, std::uint32_t value) {
    begin(key, 4);
    append(entries_, value);
    return *this;
  }
  GgufWriter& number(const std::string& key, float value) {
    begin(key, 6);
    append(entries_, value);
    return *this;
  }
  /// As a vocabulary is stored.
  GgufWriter& texts(const std::string& key, std::uint64_t count, const std::string& value) {
    begin_list(key, 8, count);
    for (std::uint64_t i = 0; i < count; ++i) append_text(entries_, value);
    return *this;
  }

  GgufWriter& flag(const std::string& key, bool value) {
    begin(key, 7);
    append(entries_, static_cast<std::uint8_t>(value));
    return *this;
  }
  GgufWriter& list(const std::string& key, const std::vector<std::string>& values) {
    begin_list(key, 8, values.size());
    for (const std::string& value : values) append_text(entries_, value);
    return *this;
  }
  GgufWriter& list(const std::string& key, const std::vector<float>& values) {
    begin_list(key, 6, values.size());
    for (const float value : values) append(entries_, value);
    return *this;
  }
  GgufWriter& list(const std::string& key, const std::vector<std::int32_t>& values) {
    begin_list(key, 5, values.size());
    for (const std::int32_t value : values) append(entries_, value);
    return *this;
  }

  /// `shape` has the slowest size first.
  GgufWriter& tensor(const std::string& name, const std::vector<std::uint64_t>& shape,
                     std::uint32_t type, const Bytes& data) {
    return tensor_at(data_.size(), name, shape, type, data);
  }
  /// The same with any offset in its description.
  GgufWriter& tensor_at(std::uint64_t offset, const std::string& name,
                        const std::vector<std::uint64_t>& shape, std::uint32_t type,
                        const Bytes& data) {
    append_text(infos_, name);
    append(infos_, static_cast<std::uint32_t>(shape.size()));
    for (auto size = shape.rbegin(); size != shape.rend(); ++size) append(infos_, *size);
    append(infos_, type);
    append(infos_, offset);
    data_.insert(data_.end(), data.begin(), data.end());
    data_.resize((data_.size() + 31) / 32 * 32);
    ++tensors_;
    return *this;
  }

  Bytes bytes(std::uint32_t version = 3) const {
    Bytes all;
    for (const char c : std::string("GGUF")) all.push_back(static_cast<std::byte>(c));
    append(all, version);
    append(all, tensors_);
    append(all, count_);
    all.insert(all.end(), entries_.begin(), entries_.end());
    all.insert(all.end(), infos_.begin(), infos_.end());
    all.resize((all.size() + 31) / 32 * 32);
    all.insert(all.end(), data_.begin(), data_.end());
    return all;
  }

 private:
  static void append_text(Bytes& bytes, const std::string& text) {
    append(bytes, static_cast<std::uint64_t>(text.size()));
    for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  }
  void begin(const std::string& key, std::uint32_t type) {
    append_text(entries_, key);
    append(entries_, type);
    ++count_;
  }
  void begin_list(const std::string& key, std::uint32_t type, std::uint64_t count) {
    begin(key, 9);
    append(entries_, type);
    append(entries_, count);
  }

  Bytes entries_, infos_, data_;
  std::uint64_t tensors_ = 0, count_ = 0;
};

}  // namespace eigenscope::testing
