#include "checkpoint/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "io/json.h"
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

constexpr std::size_t kLargestRank = 64;  // torch's limit; keeps one entry's memory small
constexpr std::string_view kMetadataKey = "__metadata__";

/// Walks exactly the nesting that the format has; any other event is refused where it occurs.
class HeaderReader final : public JsonEvents {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}

  SafetensorsHeader take() { return std::move(header_); }

  void begin_object() override {
    switch (state_) {
      case State::kStart:
        state_ = State::kTop;
        return;
      case State::kMetadata:
        state_ = State::kMetadataKeys;
        return;
      case State::kTensor:
        state_ = State::kFields;
        return;
      default:
        refuse("an object");
    }
  }

  void end_object() override {
    if (state_ == State::kFields) store_tensor();
    state_ = state_ == State::kTop ? State::kEnd : State::kTop;
  }

  void begin_array() override {
    switch (state_) {
      case State::kShape:
        shape_.emplace();
        state_ = State::kShapeItems;
        return;
      case State::kOffsets:
        offsets_.emplace();
        state_ = State::kOffsetItems;
        return;
      default:
        refuse("an array");
    }
  }

  void end_array() override {
    if (state_ == State::kOffsetItems && offsets_->size() != 2) {
      fail("its data_offsets must be two numbers, begin and end");
    }
    state_ = State::kFields;
  }

  void key(std::string&& name) override {
    if (state_ == State::kTop) return open_entry(std::move(name));
    if (state_ == State::kMetadataKeys) {
      metadata_key_ = std::move(name);
      if (header_.metadata.contains(metadata_key_)) {
        fail("it has the key '" + shown_name(metadata_key_) + "' twice");
      }
      state_ = State::kMetadataText;
      return;
    }
    open_field(name);
  }

  void string(std::string&& value) override {
    if (state_ == State::kMetadataText) {
      header_.metadata.emplace(std::move(metadata_key_), std::move(value));
      state_ = State::kMetadataKeys;
    } else if (state_ == State::kDtype) {
      dtype_ = dtype_from_name(value);
      if (!dtype_) fail("its dtype '" + shown_name(value) + "' is unknown");
      state_ = State::kFields;
    } else {
      refuse("a string");
    }
  }

  void natural(std::uint64_t value) override {
    if (state_ == State::kShapeItems) {
      if (shape_->size() == kLargestRank) fail("its shape has more than 64 sizes");
      shape_->push_back(value);
    } else if (state_ == State::kOffsetItems && offsets_->size() < 2) {
      offsets_->push_back(value);
    } else if (state_ == State::kOffsetItems) {
      fail("its data_offsets must be two numbers, begin and end");
    } else {
      refuse("a number");
    }
  }

  void other_scalar(std::string&& text) override {
    if (state_ == State::kShapeItems || state_ == State::kOffsetItems) {
      fail(std::string(state_ == State::kShapeItems ? "its shape" : "its data_offsets") + " has " +
           text + ", which is not an integer from 0 to 2^64 - 1");
    }
    refuse(text);
  }

  void null() override { refuse("null"); }

 private:
  /// The place in the header of the next event.
  enum class State {
    kStart,
    kTop,
    kEnd,
    kMetadata,
    kMetadataKeys,
    kMetadataText,
    kTensor,
    kFields,
    kDtype,
    kShape,
    kShapeItems,
    kOffsets,
    kOffsetItems
  };

  void open_entry(std::string&& name) {
    entry_ = std::move(name);
    const bool metadata = entry_ == kMetadataKey;
    if (metadata ? has_metadata_ : header_.tensors.contains(entry_)) {
      fail("it is in the header twice");
    }
    has_metadata_ = has_metadata_ || metadata;
    dtype_.reset();
    shape_.reset();
    offsets_.reset();
    state_ = metadata ? State::kMetadata : State::kTensor;
  }

  void open_field(const std::string& name) {
    if (name == "dtype") return open_field(name, dtype_.has_value(), State::kDtype);
    if (name == "shape") return open_field(name, shape_.has_value(), State::kShape);
    if (name == "data_offsets") return open_field(name, offsets_.has_value(), State::kOffsets);
    fail("its field '" + shown_name(name) + "' is none of dtype, shape and data_offsets");
  }

  void open_field(const std::string& name, bool seen, State next) {
    if (seen) fail("it has the field '" + name + "' twice");
    state_ = next;
  }

  void store_tensor() {
    if (!dtype_) fail("its dtype is missing");
    if (!shape_) fail("its shape is missing");
    if (!offsets_) fail("its data_offsets are missing");
    TensorInfo tensor{*dtype_, std::move(*shape_), (*offsets_)[0], (*offsets_)[1]};
    header_.tensors.emplace(entry_, std::move(tensor));
  }

  [[noreturn]] void fail(const std::string& message) const { refuse_item(entry_, message); }

  [[noreturn]] void refuse(const std::string& what) const {
    switch (state_) {
      case State::kStart:
        throw FormatError(file_, "its header must be a JSON object, not " + what);
      case State::kMetadata:
        fail("it must be an object of strings, not " + what);
      case State::kMetadataText:
        fail("the value of '" + shown_name(metadata_key_) + "' must be a string, not " + what);
      case State::kDtype:
        fail("its dtype must be a string, not " + what);
      case State::kShape:
        fail("its shape must be an array of numbers, not " + what);
      case State::kShapeItems:
        fail("its shape must hold numbers, not " + what);
      case State::kOffsets:
        fail("its data_offsets must be an array of two numbers, not " + what);
      case State::kOffsetItems:
        fail("its data_offsets must hold numbers, not " + what);
      default:
        fail("it must be an object with dtype, shape and data_offsets, not " + what);
    }
  }

  const std::string& file_;
  State state_ = State::kStart;
  SafetensorsHeader header_;
  bool has_metadata_ = false;
  std::string metadata_key_;
  // The entry being read.
  std::string entry_;
  std::optional<Dtype> dtype_;
  std::optional<std::vector<std::uint64_t>> shape_;
  std::optional<std::vector<std::uint64_t>> offsets_;
};

/// Bytes that the shape asks for, or nothing when the count overflows or ends inside a byte.
std::optional<std::uint64_t> expected_bytes(const TensorInfo& tensor) {
  std::uint64_t bits = dtype_bits(tensor.dtype);
  for (const std::uint64_t size : tensor.shape) {
    if (size != 0 && bits > std::numeric_limits<std::uint64_t>::max() / size) return std::nullopt;
    bits *= size;
  }
  if (bits % 8 != 0) return std::nullopt;
  return bits / 8;
}

void check_tensor(const std::string& name, const TensorInfo& tensor, std::uint64_t data_size) {
  const auto fail = [&](const std::string& message) { refuse_item(name, message); };
  const std::string kind =
      "shape " + shape_text(tensor) + " of " + std::string(dtype_name(tensor.dtype));
  const std::optional<std::uint64_t> expected = expected_bytes(tensor);
  if (!expected) fail("its " + kind + " does not come to a number of bytes that fits into a file");
  if (tensor.end < tensor.begin) {
    fail("its data ends at byte " + std::to_string(tensor.end) + ", before it begins at byte " +
         std::to_string(tensor.begin));
  }
  if (tensor.end - tensor.begin != *expected) {
    fail("its data takes " + std::to_string(tensor.end - tensor.begin) + " bytes, but its " + kind +
         " needs " + std::to_string(*expected));
  }
  if (tensor.end > data_size) {
    fail("its data ends at byte " + std::to_string(tensor.end) + " of the data, but the file has " +
         "only " + std::to_string(data_size) + ": it is incomplete");
  }
}

/// The format wants the tensors, in the order of their offsets, to tile the data exactly.
void check_tiling(const std::map<std::string, TensorInfo>& tensors, std::uint64_t data_size,
                  const std::string& file) {
  using Entry = const std::pair<const std::string, TensorInfo>*;
  std::vector<Entry> order;
  order.reserve(tensors.size());
  for (const auto& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](Entry a, Entry b) {
    return std::tie(a->second.begin, a->second.end) < std::tie(b->second.begin, b->second.end);
  });
  std::uint64_t covered = 0;
  Entry previous = nullptr;
  for (const Entry tensor : order) {
    const std::uint64_t begin = tensor->second.begin;
    if (begin < covered) {
      refuse_item(tensor->first, {"its data overlaps that of '", shown_name(previous->first), "'"});
    }
    if (begin > covered) {
      throw FormatError(
          shown_name(tensor->first),
          "the " + std::to_string(begin - covered) + " bytes before its data belong to no tensor");
    }
    covered = tensor->second.end;
    previous = tensor;
  }
  if (covered != data_size) {
    throw FormatError(
        file, "its last " + std::to_string(data_size - covered) + " bytes belong to no tensor");
  }
}

}  // namespace

std::string shape_text(const TensorInfo& tensor) {
  std::string text = "[";
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(tensor.shape[i]);
  }
  return text + "]";
}

std::uint64_t element_count(const TensorInfo& tensor) {
  return (tensor.end - tensor.begin) * 8 / dtype_bits(tensor.dtype);
}

SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_size,
                                           const std::string& file) {
  if (!text.starts_with('{')) {
    throw FormatError(file, "it is not a .safetensors file: its header must begin with '{'");
  }
  HeaderReader reader(file);
  parse_json(text, file, reader);
  SafetensorsHeader header = reader.take();
  for (const auto& [name, tensor] : header.tensors) check_tensor(name, tensor, data_size);
  check_tiling(header.tensors, data_size, file);
  return header;
}

std::string header_entry(const std::string& name, std::string_view dtype,
                         const std::vector<std::uint64_t>& shape, std::uint64_t begin,
                         std::uint64_t end) {
  const OrderedJson entry{{"dtype", dtype}, {"shape", shape}, {"data_offsets", {begin, end}}};
  return write_json(name) + ":" + write_json(entry);
}

}  // namespace eigenscope
