#include "checkpoint/head_notes.h"

#include <algorithm>
#include <map>
#include <set>

#include "checkpoint/config_part.h"
#include "io/json_events.h"

namespace eigenscope {
namespace {

/// "layers 0-3, 7", "layer 7".
std::string layers_text(const std::set<int>& layers) {
  std::string text;
  for (auto at = layers.begin(); at != layers.end();) {
    const int first = *at;
    int last = first;
    for (++at; at != layers.end() && *at == last + 1; ++at) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(first) +
            (last == first ? "" : "-" + std::to_string(last));
  }
  return (layers.size() == 1 ? "layer " : "layers ") + text;
}

/// Adds a note for each prefix of layers in the file that have no queries and keys, such as those of a state space.
void note_other_layers(const FamilyMatch& part, const Safetensors& file,
                       std::vector<std::string>& notes) {
  std::map<std::string, std::set<int>> attending;
  for (const StackMatch& stack : part.stacks) {
    const std::string_view query = stack.names->query_weight;
    std::set<int>& layers =
        attending[part.prefix + std::string(query.substr(0, query.find("{n}")))];
    for (const LayerTensors& layer : stack.layers) layers.insert(layer.layer);
    for (const LayerTensors& layer : stack.beyond) layers.insert(layer.layer);
  }
  for (const auto& [before, layers] : attending) {
    std::set<int> others;
    std::string first_tensor;
    for (auto at = file.tensors().lower_bound(before);
         at != file.tensors().end() && at->first.starts_with(before); ++at) {
      const auto layer = layer_after(at->first, before.size());
      if (!layer || layers.contains(*layer)) continue;
      if (others.empty() || *layer < *others.begin()) first_tensor = at->first;
      others.insert(*layer);
    }
    if (others.empty()) continue;
    notes.push_back(layers_text(others) + ", such as with '" + shown_name(first_tensor) +
                    "', without the queries and keys of the family " +
                    std::string(part.family->name) + (others.size() == 1 ? " is" : " are") +
                    " left out");
  }
}

/// A note of the layers that config.json counts and the file lacks, as in a part of a model; empty without any.
std::string note_of_absent(const FamilyMatch& part, const StackMatch& stack, const ConfigKeys& keys,
                           const Safetensors& file) {
  const std::string_view query = stack.names->query_weight, key = stack.names->layer_count_key;
  const std::size_t mark = query.find("{n}");
  const auto count = keys.integer(key, kMostLayers);
  if (!count || mark == std::string_view::npos) return {};
  std::set<int> absent;
  for (int layer = 0; layer < static_cast<int>(*count); ++layer) {
    absent.insert(absent.end(), layer);
  }
  const std::string before = part.prefix + std::string(query.substr(0, mark));
  for (auto at = file.tensors().lower_bound(before);
       at != file.tensors().end() && at->first.starts_with(before); ++at) {
    if (const auto layer = layer_after(at->first, before.size())) absent.erase(*layer);
  }
  if (absent.empty()) return {};
  return layers_text(absent) + " of the " + std::to_string(*count) + " that '" + keys.path(key) +
         "' counts " + (absent.size() == 1 ? "is" : "are") + " not in the file";
}

/// Names of stacks: their prefixes without the last dot.
std::string listed(const std::vector<std::string>& prefixes) {
  std::string names;
  for (const std::string& prefix : prefixes) {
    names += (names.empty() ? "'" : ", '") +
             shown_name(prefix.substr(0, prefix.find_last_of('.'))) + "'";
  }
  return names;
}

std::string note_of_beyond(const StackMatch& stack) {
  const std::size_t count = stack.beyond.size();
  return std::to_string(count) + (count == 1 ? " layer" : " layers") + " of the file beyond '" +
         std::string(stack.names->layer_count_key) +
         "' in config.json are left out, as the model does not run them";
}

std::string note_of_unknown(const FamilyMatch& part) {
  return "the conventions of the model are not known: " + part.unknown +
         "; W is W_Q W_K^T of the stored weights, and what depends on the scale of the logits "
         "(localization, rho_mean, logit_bound) is null";
}

void note_part(const FamilyMatch& part, const Safetensors& file, const Config* config, bool mapped,
               std::vector<std::string>& notes) {
  if (!part.left_out.empty()) {
    notes.push_back("other stacks of the file are left out; --stack selects one: " +
                    listed(part.left_out));
  }
  if (!part.speakers.empty()) {
    notes.push_back("the parts that make sound are left out: " + listed(part.speakers));
  }
  if (!mapped) note_other_layers(part, file, notes);
  for (const StackMatch& stack : part.stacks) {
    if (!stack.beyond.empty()) notes.push_back(note_of_beyond(stack));
    if (mapped) continue;
    const ConfigKeys keys = part_keys(config, stack.part, !part.is_other);
    const std::string absent = note_of_absent(part, stack, keys, file);
    if (!absent.empty()) notes.push_back(absent);
  }
  if (part.stacks.front().names->query_weight.ends_with(".original")) {
    notes.push_back("adapters of tasks are left out: weights are those of no task");
  }
  if (!part.unknown.empty()) notes.push_back(note_of_unknown(part));
  if (!part.unknown_logits.empty()) {
    notes.push_back("localization, rho_mean and logit_bound are null: " + part.unknown_logits);
  }
}

}  // namespace

std::vector<std::string> head_notes(const std::vector<FamilyMatch>& parts, const Safetensors& file,
                                    const Config* config, bool mapped) {
  std::vector<std::string> notes;
  const auto mtp = file.tensors().lower_bound("mtp.");
  if (!mapped && mtp != file.tensors().end() && mtp->first.starts_with("mtp.")) {
    notes.push_back("layers for multi-token prediction ('mtp.') are left out");
  }
  for (const FamilyMatch& part : parts) note_part(part, file, config, mapped, notes);
  return notes;
}

}  // namespace eigenscope
