#include "bindings/localize/gaussian_measure.h"

#include <array>
#include <limits>
#include <string_view>

#include "bindings/convert.h"
#include "support/names.h"

namespace eigenscope::bindings {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using Measure = Estimate RowEstimate::*;

struct SampledMeasure {
  std::string_view name;
  Measure measure;
};
constexpr std::array kSampled{
    SampledMeasure{"entropy", &RowEstimate::entropy},
    SampledMeasure{"participation", &RowEstimate::participation},
    SampledMeasure{"sensitivity_localization", &RowEstimate::sensitivity_localization}};

std::vector<TracedHead> present(const std::vector<std::optional<TracedHead>>& heads) {
  std::vector<TracedHead> out;
  for (const auto& head : heads) {
    if (head) out.push_back(*head);
  }
  return out;
}

/// What both kinds of job return: value, error and regime of each head, in the heads' order.
class MeasureOutput {
 public:
  explicit MeasureOutput(const std::vector<std::optional<TracedHead>>& heads)
      : value_(Eigen::VectorXd::Constant(static_cast<Eigen::Index>(heads.size()), kNaN)),
        error_(value_),
        regime_(heads.size(), static_cast<std::uint8_t>(Regime::none)) {
    for (std::size_t i = 0; i < heads.size(); ++i) {
      if (heads[i]) places_.push_back(i);
    }
  }

  /// `k` counts the heads that are present.
  void put(std::size_t k, const Estimate& estimate, Regime regime) {
    const std::size_t i = places_[k];
    value_[static_cast<Eigen::Index>(i)] = estimate.value;
    error_[static_cast<Eigen::Index>(i)] = estimate.error;
    regime_[i] = static_cast<std::uint8_t>(regime);
  }

  val value() const {
    val out = val::object();
    out.set("value", array_of(value_));
    out.set("error", array_of(error_));
    out.set("regime", array_of(regime_));
    return out;
  }

 private:
  Eigen::VectorXd value_, error_;
  std::vector<std::uint8_t> regime_;
  std::vector<std::size_t> places_;
};

class ClosedFormJob final : public Job {
 public:
  ClosedFormJob(const std::vector<std::optional<TracedHead>>& heads, const TokenProcess& tokens)
      : kernel_(centred_kernel(tokens)), heads_(present(heads)), output_(heads) {}

  bool advance(double work) override {
    const double keys = static_cast<double>(kernel_.cross.size());
    for (double left = work; left >= 0 && next_ < heads_.size(); left -= kPropagationWork * keys) {
      const Propagation found = propagate(kernel_, heads_[next_].traces, heads_[next_].temperature);
      output_.put(next_++, {found.localization, 0}, found.regime);
    }
    return next_ == heads_.size();
  }
  double progress() const override {
    return heads_.empty() ? 1 : static_cast<double>(next_) / static_cast<double>(heads_.size());
  }
  val output() override { return output_.value(); }

 private:
  CentredKernel kernel_;
  std::vector<TracedHead> heads_;
  MeasureOutput output_;
  std::size_t next_ = 0;
};

class GaussianJob final : public Job {
 public:
  GaussianJob(const std::vector<std::optional<TracedHead>>& heads, const val& input,
              Measure measure)
      : rows_(tokens_of(input), present(heads), integer(input, "samples"),
              static_cast<std::uint64_t>(number(input, "seed"))),
        count_(present(heads).size()),
        measure_(measure),
        output_(heads) {}

  bool advance(double work) override {
    return rows_.advance(1 + static_cast<Eigen::Index>(work / rows_.work_per_step()));
  }
  double progress() const override {
    return static_cast<double>(rows_.steps_done()) / static_cast<double>(rows_.steps_wanted());
  }
  val output() override {
    for (std::size_t k = 0; k < count_; ++k) {
      const RowEstimate estimate = rows_.estimate(k);
      output_.put(k, estimate.*measure_, estimate.regime);
    }
    return output_.value();
  }

 private:
  GaussianRows rows_;
  std::size_t count_;
  Measure measure_;
  MeasureOutput output_;
};

}  // namespace

std::unique_ptr<Job> make_measure_job(const std::vector<std::optional<TracedHead>>& heads,
                                      const val& input) {
  const std::string name = text(input, "measure");
  if (name == "localization") return std::make_unique<ClosedFormJob>(heads, tokens_of(input));
  for (const SampledMeasure& sampled : kSampled) {
    if (name == sampled.name) return std::make_unique<GaussianJob>(heads, input, sampled.measure);
  }
  refuse_name("measure", name, kSampled);
}

}  // namespace eigenscope::bindings
