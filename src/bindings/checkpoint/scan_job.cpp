// The job of the page's fourth section that needs no text: scan.
#include <array>
#include <optional>

#include "bindings/files.h"
#include "bindings/job.h"
#include "checkpoint/head_report.h"

namespace eigenscope::bindings {
namespace {

class ScanJob final : public Job {
 public:
  explicit ScanJob(const val& input)
      : kernel_(centred_kernel(tokens_of(input))), scan_(open(input)) {}

  bool advance(double work) override {
    // The heads of a layer have one size: so many multiply-adds for its moments and eigenvalues.
    for (double left = work; left >= 0 && !scan_.done();) {
      for (const HeadFactors& factors : scan_.advance(1)) {
        const auto d = static_cast<double>(factors.query.rows());
        const auto d_h = static_cast<double>(factors.query.cols());
        left -= 4 * d * d_h * d_h + 25 * d_h * d_h * d_h;
        add(report_head(factors, kernel_));
      }
    }
    return scan_.done();
  }
  double progress() const override {
    return static_cast<double>(scan_.heads_read()) / static_cast<double>(scan_.total_heads());
  }
  val output() override {
    val excluded = val::array();
    for (const ExcludedHead& head : scan_.excluded()) excluded.call<void>("push", head.text());
    val out = val::object();
    out.set("heads", heads_);
    out.set("bytes_read", static_cast<double>(scan_.bytes_read()));
    out.set("excluded", excluded);
    return out;
  }

 private:
  static HeadScan open(const val& input) {
    HeadSettings settings;
    if (input["heads"].as<double>() != 0) {
      settings.heads = static_cast<int>(integer(input, "heads"));
    }
    const std::optional<Config> config = config_of(input);
    return HeadScan(tensors_of(input), config ? &*config : nullptr, settings);
  }

  void add(const HeadReport& report) {
    val head = moments_value(report.moments);
    head.set("layer", report.layer);
    head.set("head", report.head);
    head.set("head_width", static_cast<double>(report.head_width));
    head.set("variance_modulus", report.variance_modulus);
    head.set("localization", number_or_null(report.localization));
    head.set("regime", std::string(regime_name(report.regime)));
    head.set("eigenvalues", array_of(report.eigenvalues));
    heads_.call<void>("push", head);
  }

  CentredKernel kernel_;
  HeadScan scan_;
  val heads_ = val::array();
};

std::unique_ptr<Job> make_scan_job(const std::string& name, const val& input) {
  if (name == "scan") return std::make_unique<ScanJob>(input);
  return nullptr;
}

}  // namespace

std::span<const JobMaker> job_makers() {
  static constexpr std::array<JobMaker, 1> kMakers{make_scan_job};
  return kMakers;
}

}  // namespace eigenscope::bindings
