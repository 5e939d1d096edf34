#include "checkpoint/adapter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/config_part.h"
#include "checkpoint/quantization.h"
#include "checkpoint/safetensors_view.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/parameter.h"
#include "support/words.h"

namespace eigenscope {
namespace {

constexpr std::string_view kInner = ".lora_A.", kOuter = ".lora_B.";
constexpr std::string_view kWrapper = "base_model.model.";

/// A weight that the adapter changes to W + scale B A. `inner` and `outer` name the adapter's tensors A (rank x inputs)
/// and B (outputs x rank).
struct ChangedWeight {
  std::string name, inner, outer;
  std::string magnitude;  ///< DoRA's norms, one for each output; empty without DoRA
  std::uint64_t rows = 0, columns = 0, rank = 0;  ///< rank 0: a change by `inner` that is not read
  double scale = 0;
  bool inputs_first = false;  ///< W is stored with its inputs as rows
};

/// A (`inner`, r x inputs) and B (`outer`, outputs x r) in row-major order, and DoRA's factor of each output, empty
/// without DoRA.
struct ChangeFactors {
  std::vector<double> inner, outer, outputs;
};

class AdaptedView final : public SafetensorsView {
 public:
  /// `tensors` lists those of `weights` first, then those that the adapter's tensors `replacing` replace, then tensors
  /// of `base`.
  AdaptedView(std::shared_ptr<const Safetensors> base, std::shared_ptr<const Safetensors> adapter,
              const std::vector<ViewedTensor>& tensors, std::vector<ChangedWeight> weights,
              std::vector<std::string> replacing)
      : SafetensorsView(adapter->name(), tensors),
        base_(std::move(base)),
        adapter_(std::move(adapter)),
        tensors_(tensors),
        weights_(std::move(weights)),
        replacing_(std::move(replacing)) {}

 private:
  void read_tensor(std::size_t place, std::uint64_t offset, std::span<std::byte> out) override {
    if (place >= weights_.size()) {
      const std::size_t next = place - weights_.size();
      if (next < replacing_.size()) return adapter_->read_bytes(replacing_[next], offset, out);
      return base_->read_bytes(tensors_[place].name, offset, out);
    }
    const ChangedWeight& weight = weights_[place];
    if (weight.rank == 0) {
      refuse_item(weight.inner,
                  {"its change of '", shown_name(weight.name),
                   "' is not read; merge the adapter with peft's merge_and_unload()"});
    }
    const ChangeFactors& factors = factors_.get(place, [&] { return factors_of(weight); });
    read_computed<double>(offset, out, [&](std::uint64_t first, std::span<double> values) {
      read_changed(weight, factors, first, values);
    });
  }

  ChangeFactors factors_of(const ChangedWeight& weight) const {
    const auto all_of = [&](const std::string& name) {
      std::uint64_t count = 1;
      for (const std::uint64_t side : adapter_->tensor(name).shape) count *= side;
      std::vector<double> values(static_cast<std::size_t>(count));
      adapter_->read_elements(name, 0, values);
      return values;
    };
    ChangeFactors factors{all_of(weight.inner), all_of(weight.outer), {}};
    if (weight.magnitude.empty()) return factors;
    const std::vector<double> magnitudes = all_of(weight.magnitude);
    std::vector<double> squares(magnitudes.size());
    constexpr std::uint64_t kMostElements = 1 << 16;
    std::vector<double> values(kMostElements);
    const std::uint64_t count = weight.rows * weight.columns;
    for (std::uint64_t first = 0; first < count; first += values.size()) {
      values.resize(static_cast<std::size_t>(std::min(kMostElements, count - first)));
      read_changed(weight, factors, first, values);
      for (std::size_t i = 0; i < values.size(); ++i)
        squares[output_of(weight, first + i)] += values[i] * values[i];
    }
    for (std::size_t i = 0; i < squares.size(); ++i)
      factors.outputs.push_back(magnitudes[i] / std::sqrt(squares[i]));
    return factors;
  }

  static std::size_t output_of(const ChangedWeight& weight, std::uint64_t element) {
    return static_cast<std::size_t>(weight.inputs_first ? element % weight.columns
                                                        : element / weight.columns);
  }

  void read_changed(const ChangedWeight& weight, const ChangeFactors& factors, std::uint64_t first,
                    std::span<double> values) const {
    base_->read_elements(weight.name, first, values);
    const auto rank = static_cast<std::size_t>(weight.rank);
    const auto inputs = factors.inner.size() / rank;
    auto row = static_cast<std::size_t>(first / weight.columns),
         column = static_cast<std::size_t>(first % weight.columns);
    for (double& value : values) {
      const std::size_t output = weight.inputs_first ? column : row,
                        input = weight.inputs_first ? row : column;
      double change = 0;
      for (std::size_t k = 0; k < rank; ++k)
        change += factors.outer[output * rank + k] * factors.inner[k * inputs + input];
      value += weight.scale * change;
      if (!factors.outputs.empty()) value *= factors.outputs[output];
      if (++column < weight.columns) continue;
      column = 0;
      ++row;
    }
  }

  std::shared_ptr<const Safetensors> base_, adapter_;
  std::vector<ViewedTensor> tensors_;
  std::vector<ChangedWeight> weights_;
  std::vector<std::string> replacing_;
  LastParts<ChangeFactors> factors_;
};

/// The settings of adapter_config.json that hold for all weights.
struct AdapterRules {
  double alpha = 0;
  bool by_root = false;  ///< alpha is divided by the root of the rank
  bool has_magnitudes = false;
  std::uint64_t rank = 0;  ///< r of all weights; 0: the rows of each A
};

/// The LoRA alpha of `module`, a name without the wrapper's prefix: the value of the matching key of `alpha_pattern`,
/// else `alpha`. PEFT matches keys as regular expressions after a dot; supported are ends of names, and '^' with a
/// name.
double alpha_of(const Config& config, double alpha, std::string_view module) {
  const std::string pattern = "alpha_pattern";
  bool is_matched = false;
  for (const std::string& key : config.names(pattern + ".", true)) {
    const bool is_whole = key.starts_with('^');
    const std::string_view end = std::string_view(key).substr(is_whole);
    const auto is_special = [](char c) {
      return c < '-' || c == '/' || (c > '9' && c < 'A') || (c > 'Z' && c < 'a' && c != '_') ||
             c > 'z';
    };
    if (std::any_of(end.begin(), end.end(), is_special)) {
      refuse_item(pattern, {"its keys must be ends of names of modules, but '", shown_name(key),
                            "' is a regular expression"});
    }
    const double pattern_alpha = *config.number(pattern + "." + key, 0, 1e6);
    if (end.size() > module.size()) continue;
    const std::size_t before = module.size() - end.size();
    const bool matches =
        (before == 0 || (!is_whole && module[before - 1] == '.')) &&
        std::equal(end.begin(), end.end(), module.begin() + static_cast<std::ptrdiff_t>(before),
                   [](char expected, char c) { return expected == '.' || expected == c; });
    if (!matches) continue;
    if (is_matched && pattern_alpha != alpha) {
      refuse_item(pattern, {"its keys must give '", shown_name(module), "' one alpha, but give it ",
                            shown(alpha), " and ", shown(pattern_alpha)});
    }
    is_matched = true;
    alpha = pattern_alpha;
  }
  return alpha;
}

AdapterRules rules_of(const Config& config) {
  const auto refuse = [&](const std::string& key, const char* expected) {
    refuse_item(key, {"it must be ", expected, ", but is '", shown_name(config.value(key)), "' in ",
                      config.name()});
  };
  if (config.value("peft_type") != "LORA") refuse("peft_type", "LORA");
  for (const char* const key : {"lora_bias", "use_qalora", "layer_replication",
                                "alora_invocation_tokens", "monteclora_config", "arrow_config"}) {
    if (const std::string value = config.value(key); !value.empty() && value != "false")
      refuse(key, "false, null or left out");
  }
  // Others change the weights of the model when the adapter is made or opened.
  const std::string begun = config.value("init_lora_weights");
  if (!begun.empty() && !lists(" true false gaussian eva orthogonal ", begun)) {
    refuse("init_lora_weights",
           "true, false, gaussian, eva, orthogonal or left out (peft's "
           "path_initial_model_for_weight_conversion saves such an adapter)");
  }
  const std::optional<double> alpha = config.number("lora_alpha", 0, 1e6);
  if (!alpha) refuse("lora_alpha", "a number from 0 to 1e6");
  constexpr std::uint64_t kMostRank = 1 << 20;
  const bool one_rank = !config.has_keys("rank_pattern");
  return {*alpha, config.flag("use_rslora").value_or(false),
          config.flag("use_dora").value_or(false),
          one_rank ? config.positive_integer("r", kMostRank).value_or(0) : 0};
}

/// Whether `prefix` belongs to a model's stack for images or audio rather than to a wrapper.
bool is_of_other_part(const std::string& prefix) {
  return part_of(nullptr, "", prefix, false) != kNoPart ||
         prefix.find("tower") != std::string::npos;
}

/// The name in `base` of the tensor that the adapter calls `name`, where either name may have a prefix that the other
/// lacks; empty where none fits. Throws FormatError naming the adapter's `tensor` where several fit.
std::string stored_name(const Safetensors& base, const std::string& name,
                        const std::string& tensor) {
  if (base.tensors().contains(name)) return name;
  // Models with vision have other names in version 4.52 of transformers than in their files.
  constexpr std::string_view kNow = "model.language_model.";
  for (const std::string_view then : {"language_model.model.", "model."}) {
    if (!name.starts_with(kNow)) break;
    const std::string older = std::string(then) + name.substr(kNow.size());
    if (base.tensors().contains(older)) return older;
  }
  std::string fitting;
  for (const auto& [other, info] : base.tensors()) {
    const bool has_more = name.ends_with("." + other);
    if (!other.ends_with("." + name) && !has_more) continue;
    if (has_more && is_of_other_part(name.substr(0, name.size() - other.size()))) continue;
    if (!fitting.empty())
      refuse_item(tensor, {"it must fit one weight of ", base.name(), ", but fits '",
                           shown_name(fitting), "' and '", shown_name(other), "'"});
    fitting = other;
  }
  return fitting;
}

std::string_view without_wrapper(std::string_view name) {
  if (name.starts_with(kWrapper)) name.remove_prefix(kWrapper.size());
  return name;
}

/// The weight of `base` that a module of the adapter changes.
std::string weight_of(const Safetensors& base, std::string_view module, const std::string& tensor) {
  const std::string name = std::string(without_wrapper(module)) + ".weight";
  const std::string fitting = stored_name(base, name, tensor);
  if (fitting.empty())
    refuse_item(tensor, {"its weight '", shown_name(name), "' must be in ", base.name()});
  return fitting;
}

/// Whether config.json of the adapter has the module of a tensor among those that were trained whole.
bool is_trained_whole(const Config& config, std::string_view module) {
  for (int i = 0;; ++i) {
    const auto trained = config.text("modules_to_save." + std::to_string(i));
    if (!trained) return false;
    if (module == *trained || module.ends_with("." + *trained)) return true;
  }
}

/// The name of the model's tensor that `tensor` of the adapter replaces, such as the weight of a new head or a bias.
/// Throws FormatError naming the tensor where it is another part of an adapter, or does not fit.
std::string replaced_by(const Safetensors& base, const Safetensors& adapter,
                        const std::string& tensor, const Config& config) {
  std::string name(without_wrapper(tensor));
  // PEFT's name of a bias of a layer that it wraps.
  constexpr std::string_view kInLayer = ".base_layer.bias";
  if (name.ends_with(kInLayer)) name.erase(name.size() - kInLayer.size(), kInLayer.rfind('.'));
  const bool is_whole = (name.ends_with(".weight") || name.ends_with(".bias")) &&
                        name.find("lora_") == std::string::npos &&
                        name.find("token_adapter") == std::string::npos;
  const std::string stored = is_whole ? stored_name(base, name, tensor) : std::string();
  const bool is_new = is_whole && stored.empty() &&
                      is_trained_whole(config, std::string_view(name).substr(0, name.rfind('.')));
  if (stored.empty() && !is_new) {
    refuse_item(tensor,
                "an adapter must have the tensors lora_A and lora_B, and whole ones of its model, "
                "only; merge it into its model with peft's merge_and_unload()");
  }
  if (is_new) return name;
  // Rows of embeddings are added for new tokens.
  const std::vector<std::uint64_t>&shape = adapter.tensor(tensor).shape,
        &whole = base.tensor(stored).shape;
  const bool fits = shape.size() == whole.size() && !shape.empty() &&
                    std::equal(shape.begin() + 1, shape.end(), whole.begin() + 1) &&
                    (shape[0] == whole[0] || (shape.size() == 2 && shape[0] > whole[0]));
  if (!fits) {
    refuse_item(tensor, {"its shape ", shape_text(adapter.tensor(tensor)), " must be that of '",
                         shown_name(stored), "', ", shape_text(base.tensor(stored))});
  }
  return stored;
}

ChangedWeight change_of(const Safetensors& base, const Safetensors& adapter,
                        const std::string& inner, const AdapterRules& rules, const Config& config) {
  ChangedWeight weight;
  const std::size_t mark = inner.find(kInner);
  weight.inner = weight.outer = inner;
  weight.outer.replace(mark, kInner.size(), kOuter);
  const std::string module = inner.substr(0, mark);
  weight.name = weight_of(base, module, inner);
  const TensorInfo &a = adapter.tensor(weight.inner), &b = adapter.tensor(weight.outer),
                   &whole = base.tensor(weight.name);
  // By the kind of the module, as PEFT sets `fan_in_fan_out`, whatever the config says.
  const bool are_matrices = a.shape.size() == 2 && b.shape.size() == 2 && whole.shape.size() == 2;
  const bool square = are_matrices && whole.shape[0] == whole.shape[1];
  weight.inputs_first =
      are_matrices && (square ? is_conv1d(weight.name) : whole.shape[1] == b.shape[0]);
  const bool fits = are_matrices && a.shape[0] == b.shape[1] && a.shape[0] > 0 &&
                    whole.shape[weight.inputs_first ? 1 : 0] == b.shape[0] &&
                    whole.shape[weight.inputs_first ? 0 : 1] == a.shape[1];
  if (!fits) {
    refuse_item(inner,
                {"its shape ", shape_text(a), " and that of its partner, ", shape_text(b),
                 ", must fit '", shown_name(weight.name), "', whose shape is ", shape_text(whole)});
  }
  weight.rows = whole.shape[0];
  weight.columns = whole.shape[1];
  weight.rank = a.shape[0];
  if (rules.rank > 0 && rules.rank != weight.rank) {
    refuse_item(inner, {"it must have as many rows as 'r' in adapter_config.json says, ",
                        std::to_string(rules.rank), ", but has ", std::to_string(weight.rank)});
  }
  if (rules.has_magnitudes) {
    const std::string vector_name = module + ".lora_magnitude_vector";
    const auto magnitude = adapter.tensors().lower_bound(vector_name);
    if (magnitude == adapter.tensors().end() || !magnitude->first.starts_with(vector_name) ||
        magnitude->second.shape != std::vector{b.shape[0]}) {
      refuse_item(vector_name,
                  {"it must have ", std::to_string(b.shape[0]), " numbers, as 'use_dora' is true"});
    }
    weight.magnitude = magnitude->first;
  }
  const auto rank = static_cast<double>(weight.rank);
  weight.scale = alpha_of(config, rules.alpha, without_wrapper(module)) /
                 (rules.by_root ? std::sqrt(rank) : rank);
  return weight;
}

/// Whether `tensor` is a token embedding matrix that was trained whole and is also the output matrix of `base`: neither
/// file has another tensor of its shape. PEFT then trains a copy and leaves the output unchanged, unless
/// `ensure_weight_tying` is true.
bool parts_from_output(const Safetensors& base, const Safetensors& adapter,
                       const std::string& tensor, std::string_view module, const Config& config) {
  const bool embeds =
      module.ends_with("wte") || module.substr(module.rfind('.') + 1).find("embed") != module.npos;
  if (!embeds || !is_trained_whole(config, module) ||
      config.flag("ensure_weight_tying").value_or(false))
    return false;
  const std::string stored =
      stored_name(base, std::string(without_wrapper(module)) + ".weight", tensor);
  if (stored.empty()) return false;
  const auto is_alone = [](const Safetensors& file, const std::string& name) {
    const auto& shape = file.tensor(name).shape;
    return std::all_of(file.tensors().begin(), file.tensors().end(), [&](const auto& other) {
      return other.first == name || other.second.shape != shape;
    });
  };
  return is_alone(base, stored) && is_alone(adapter, tensor);
}

/// The module that `tensor` of the adapter changes in an unsupported way (token embeddings, or a base layer's weight
/// that is stored whole); empty for any other tensor.
std::string_view unread_module(const Safetensors& base, const Safetensors& adapter,
                               const std::string& tensor, const Config& config) {
  const std::string_view name = tensor;
  for (const std::string_view mark :
       {".lora_embedding_", ".token_adapter.", ".base_layer.weight"}) {
    if (const std::size_t end = name.find(mark); end != name.npos) return name.substr(0, end);
  }
  const std::string_view module = name.substr(0, name.rfind('.'));
  if (!name.ends_with(".weight")) return {};
  return parts_from_output(base, adapter, tensor, module, config) ? module : std::string_view();
}

}  // namespace

bool is_adapter(const Safetensors& file) {
  return std::any_of(file.tensors().begin(), file.tensors().end(), [](const auto& tensor) {
    return tensor.first.find(kInner) != std::string::npos;
  });
}

std::shared_ptr<const Safetensors> with_adapter(std::shared_ptr<const Safetensors> base,
                                                std::shared_ptr<const Safetensors> adapter,
                                                const Config& config) {
  const AdapterRules rules = rules_of(config);
  std::vector<ChangedWeight> weights;
  std::vector<ViewedTensor> viewed;
  std::map<std::string, std::string> changed;  // weight -> tensor that changes it
  const auto change = [&](const std::string& weight, const std::string& tensor) {
    if (changed.emplace(weight, tensor).second) return;
    refuse_item(tensor, {"it must change another weight than '", shown_name(changed[weight]), "'"});
  };
  const auto view = [&](const std::string& name, const TensorInfo& info) {
    viewed.push_back({name, dtype_name(info.dtype), info.shape, info.end - info.begin});
  };
  std::vector<std::string> replacing;
  std::string unread;  // prefix of the tensors of an unsupported module, which are adjacent
  for (const auto& [name, info] : adapter->tensors()) {
    if (!unread.empty() && name.starts_with(unread)) continue;
    if (const std::string module(unread_module(*base, *adapter, name, config)); !module.empty()) {
      unread = module + ".";
      ChangedWeight& weight = weights.emplace_back();
      weight.name = weight_of(*base, module, name);
      weight.inner = name;
      change(weight.name, name);
      view(weight.name, base->tensor(weight.name));
      continue;
    }
    if (const std::size_t mark = name.find(kOuter); mark != std::string::npos) {
      std::string inner = name;
      inner.replace(mark, kOuter.size(), kInner);
      if (adapter->tensors().contains(inner)) continue;
      refuse_item(name, {"its partner '", shown_name(inner), "' is missing"});
    }
    if (name.find(kInner) == std::string::npos) {
      if (weights.empty() || weights.back().magnitude != name) replacing.push_back(name);
      continue;
    }
    weights.push_back(change_of(*base, *adapter, name, rules, config));
    const ChangedWeight& weight = weights.back();
    change(weight.name, name);
    viewed.push_back({weight.name,
                      "F64",
                      {weight.rows, weight.columns},
                      weight.rows * weight.columns * sizeof(double)});
  }
  for (const std::string& name : replacing) {
    const std::string replaced = replaced_by(*base, *adapter, name, config);
    change(replaced, name);
    view(replaced, adapter->tensor(name));
  }
  for (const auto& [name, info] : base->tensors()) {
    if (!changed.contains(name)) view(name, info);
  }
  return std::make_shared<const Safetensors>(std::make_shared<AdaptedView>(
      std::move(base), std::move(adapter), viewed, std::move(weights), std::move(replacing)));
}

}  // namespace eigenscope
