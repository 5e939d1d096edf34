#include "cli/options.h"

#include <algorithm>
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

Eigen::Map<const Eigen::ArrayXd> as_array(const std::vector<double>& list) {
  return {list.data(), static_cast<Eigen::Index>(list.size())};
}

}  // namespace

CLI::Option* Numbers::add(CLI::App& app, std::string_view name, std::string_view as) {
  parameter(name);  // throws where there is none
  const auto known = parameters();
  const Parameter& p = *std::find_if(known.begin(), known.end(),
                                     [&](const Parameter& it) { return it.name == name; });
  const std::string& fallback =
      defaults_.try_emplace(std::string(name), shown(p.fallback)).first->second;
  Typed& typed = typed_[std::string(name)];
  typed.field = as.empty() ? name : as;
  typed.option = app.add_option(flag(typed.field), typed.text,
                                std::string(p.meaning) + " (" + allowed_range(p) + "; default " +
                                    fallback + ")")
                     ->type_name("NUMBER");
  return typed.option;
}

bool Numbers::given(std::string_view name) const {
  const auto typed = typed_.find(name);
  return typed != typed_.end() && typed->second.option->count() > 0;
}

double Numbers::number(std::string_view name) const {
  if (!given(name)) return parse_parameter(name, defaults_.find(name)->second);
  const Typed& typed = typed_.find(name)->second;
  return parse_parameter(name, typed.text, typed.field);
}

std::vector<double> number_list(std::string_view name, const std::string& text) {
  std::vector<double> numbers;
  for (std::size_t start = 0;;) {
    const std::size_t comma = text.find(',', start);
    numbers.push_back(parse_parameter(name, text.substr(start, comma - start)));
    if (comma == std::string::npos) return numbers;
    start = comma + 1;
  }
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

EnsembleOptions::EnsembleOptions(CLI::App& app, Numbers& numbers,
                                 std::initializer_list<const char*> coordinates)
    : numbers_(numbers) {
  app.add_option("--ensemble", name_,
                 "law of W_QK: " + joined(ensemble_names()) + " (default " + name_ + ")");
  eigenvalues_option_ =
      app.add_option("--eigenvalues", eigenvalues_,
                     "comma-separated eigenvalues of the ensemble 'list'; a mean and a variance, "
                     "where given, rescale them");
  for (const char* name : coordinates) numbers.add(app, name);
  for (const char* name : {"width", "head_width", "seed"}) numbers.add(app, name);
}

EnsembleSettings EnsembleOptions::settings() const {
  EnsembleSettings settings;
  settings.kind = ensemble_of_name(name_);
  settings.width = numbers_.integer("width");
  settings.head_width = numbers_.integer("head_width");
  settings.seed = static_cast<std::uint64_t>(numbers_.number("seed"));
  if (settings.kind == EnsembleKind::list && numbers_.given("width")) {
    throw InvalidArgument("width", "with --ensemble list it is the number of eigenvalues");
  }
  if (eigenvalues_option_->count() > 0) {
    if (settings.kind != EnsembleKind::list) {
      throw InvalidArgument("eigenvalues", "they are only used with --ensemble list");
    }
    settings.eigenvalues = number_list("eigenvalue", eigenvalues_);
  }
  return settings;
}

double EnsembleOptions::mean() const {
  const std::vector<double> list = settings().eigenvalues;
  return list.empty() || numbers_.given("mean") ? numbers_.number("mean") : as_array(list).mean();
}

SpectrumPoint EnsembleOptions::point() const {
  const std::vector<double> list = settings().eigenvalues;
  if (list.empty() || numbers_.given("variance")) return {mean(), numbers_.number("variance")};
  const auto values = as_array(list);
  return {mean(), (values - values.mean()).square().mean()};
}

MaskOptions::MaskOptions(CLI::App& app, Numbers& numbers) : numbers_(numbers) {
  app.add_option("--mask", name_, "causal|full|window|blocks (default causal)");
  for (const char* name : {"window", "blocks", "prefix", "selected"}) numbers.add(app, name);
}

Mask MaskOptions::mask() const {
  return {mask_of_name(name_), numbers_.integer("window"), numbers_.integer("blocks"),
          numbers_.integer("prefix"), numbers_.integer("selected")};
}

}  // namespace eigenscope::cli
