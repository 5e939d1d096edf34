#include "cli/options.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "support/error.h"
#include "support/parameter.h"

namespace eigenscope::cli {
namespace {

std::string flag(std::string_view name) {
  std::string text = "--" + std::string(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

template <class Names>
std::string joined(const Names& names) {
  std::string text;
  for (const auto& entry : names) text += (text.empty() ? "" : "|") + std::string(entry.name);
  return text;
}

}  // namespace

void Numbers::add(CLI::App& app, std::string_view name) {
  const Parameter& p = parameter(name);
  const std::string& fallback =
      defaults_.try_emplace(std::string(name), shown(p.fallback)).first->second;
  app.add_option(flag(name), texts_[std::string(name)],
                 std::string(p.meaning) + " (" + allowed_range(p) + "; default " + fallback + ")")
      ->type_name("NUMBER");
}

bool Numbers::given(std::string_view name) const {
  const auto text = texts_.find(name);
  return text != texts_.end() && !text->second.empty();
}

double Numbers::number(std::string_view name) const {
  return parse_parameter(name,
                         given(name) ? texts_.find(name)->second : defaults_.find(name)->second);
}

std::vector<double> number_list(std::string_view name, const std::string& text) {
  std::vector<double> numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    numbers.push_back(parse_parameter(name, part));
  }
  if (numbers.empty()) parse_parameter(name, "");
  return numbers;
}

TokenOptions::TokenOptions(CLI::App& app, Numbers& numbers, std::string default_process)
    : numbers_(numbers), name_(std::move(default_process)) {
  app.add_option("--tokens", name_,
                 "token process: " + joined(token_kernels()) + " (default " + name_ + ")");
  numbers.add(app, "correlation");
  numbers.add(app, "length");
}

TokenProcess TokenOptions::process() const {
  return token_process(name_, numbers_.integer("length"), numbers_.number("correlation"));
}

EnsembleOptions::EnsembleOptions(CLI::App& app, Numbers& numbers) : numbers_(numbers) {
  app.add_option("--ensemble", name_,
                 "law of W_QK: " + joined(ensemble_names()) + " (default " + name_ + ")");
  app.add_option("--eigenvalues", eigenvalues_,
                 "comma-separated eigenvalues of the ensemble 'list'; --mean and --variance, where "
                 "given, rescale them");
  for (const char* name : {"mean", "variance", "width", "head_width", "seed"}) {
    numbers.add(app, name);
  }
}

EnsembleSettings EnsembleOptions::settings() const {
  EnsembleSettings settings;
  settings.kind = ensemble_of_name(name_);
  settings.width = numbers_.integer("width");
  settings.head_width = numbers_.integer("head_width");
  settings.seed = static_cast<std::uint64_t>(numbers_.number("seed"));
  if (!eigenvalues_.empty()) {
    if (settings.kind != EnsembleKind::list) {
      throw InvalidArgument("eigenvalues", "they are only used with --ensemble list");
    }
    settings.eigenvalues = number_list("eigenvalue", eigenvalues_);
  }
  return settings;
}

SpectrumPoint EnsembleOptions::point() const {
  SpectrumPoint point{numbers_.number("mean"), numbers_.number("variance")};
  const std::vector<double> list = settings().eigenvalues;
  if (list.empty()) return point;
  const Eigen::Map<const Eigen::ArrayXd> values(list.data(),
                                                static_cast<Eigen::Index>(list.size()));
  if (!numbers_.given("mean")) point.mean = values.mean();
  if (!numbers_.given("variance")) point.variance = (values - values.mean()).square().mean();
  return point;
}

}  // namespace eigenscope::cli
