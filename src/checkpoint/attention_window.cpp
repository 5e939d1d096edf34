#include "checkpoint/attention_window.h"

#include "io/json_events.h"
#include "support/error.h"
#include "support/words.h"

namespace eigenscope {
namespace {

constexpr std::uint64_t kLargestWindow = std::uint64_t{1} << 30;

/// Whether a list of words between spaces has the type of the text's model.
bool has_type(std::string_view types, const ConfigKeys& keys) {
  const auto type = keys.in({"text_config.", ""}).text("model_type");
  return type && lists(types, *type);
}

std::string layer_type_key(int layer) { return element_key("layer_types", layer); }

}  // namespace

std::string attention_kind(const ConfigKeys& keys, const WindowKeys& family, int layer) {
  const auto number = static_cast<std::uint64_t>(layer);
  if (family.last_full && keys.integer("num_hidden_layers", kMostLayers) == number + 1) {
    return std::string(kFullAttention);
  }
  if (const auto type = keys.text(layer_type_key(layer))) {
    // "attention" as hybrids have it.
    const bool full = *type == "attention" || (family.chunked && *type == "chunked_attention");
    return full ? std::string(kFullAttention) : *type;
  }
  const auto kind = [](bool full) {
    return std::string(full ? kFullAttention : kSlidingAttention);
  };
  const std::string listed = element_key(family.list, layer);
  if (!family.summarized.empty()) {
    const std::string value = keys.value(listed);
    if (value != "0" && !lists(family.summarized, value)) {
      refuse_item(listed, {"it must be 0 or one of", family.summarized, "in config.json",
                           (value.empty() ? "" : ", but is " + shown_name(value))});
    }
    return kind(value != "0");
  }
  if (const auto windowed = keys.number(listed, 0, 1)) return kind(*windowed == 0);
  // The first layers of Qwen have no window.
  if (family.default_before > 0 &&
      (has_type(family.switched, keys) || has_type(family.counted, keys))) {
    const auto most = static_cast<double>(kMostLayers);
    const auto before = keys.number("max_window_layers", 0, most);
    return kind(static_cast<double>(number) <
                before.value_or(static_cast<double>(family.default_before)));
  }
  const auto pattern = keys.integer(family.pattern, kMostLayers).value_or(family.default_pattern);
  if (pattern == 0) return "";
  return kind((number + (family.first_full ? 0 : 1)) % pattern == 0);
}

std::optional<std::uint64_t> attention_window(const ConfigKeys& keys, const WindowKeys& family,
                                              int layer) {
  const std::string kind = attention_kind(keys, family, layer);
  if (!kind.empty() && kind != kFullAttention && kind != kSlidingAttention) {
    throw FormatError(keys.path(layer_type_key(layer)),
                      "'" + shown_name(kind) + "' in " + keys.name() +
                          " is not supported; supported: " + std::string(kFullAttention) + ", " +
                          std::string(kSlidingAttention));
  }
  const bool switched = has_type(family.switched, keys);
  if (kind == kFullAttention && has_type(family.untyped, keys) &&
      keys.integer(family.size, kLargestWindow)) {
    throw FormatError(keys.path(layer_type_key(layer)),
                      "it must be left out in " + keys.name() + " beside '" +
                          keys.path(family.size) +
                          "' of a model type whose layers all have that window");
  }
  if (kind == kFullAttention || (switched && keys.is_off("use_sliding_window")))
    return std::nullopt;
  if (keys.is_null(family.size)) return std::nullopt;
  if (family.default_size == 0 && !has_type(family.model_types, keys)) return std::nullopt;
  if (switched && !keys.has("use_sliding_window")) return std::nullopt;
  const auto size = keys.integer(family.size, kLargestWindow);
  if (size && family.typed && kind.empty()) {
    refuse_item(keys.path("layer_types"),
                {"it must be given in ", keys.name(), " beside '", keys.path(family.size),
                 "' of a model whose windows depend on the layer"});
  }
  if (size) return size;
  if (family.default_size > 0) return family.default_size;
  if (kind.empty()) return std::nullopt;
  throw FormatError(keys.path(family.size), "it is missing in " + keys.name() + ", though layer " +
                                                std::to_string(layer) + " has a sliding window");
}

}  // namespace eigenscope
