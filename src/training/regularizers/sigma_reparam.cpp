// sigmaReparam (Zhai et al., ICML 2023): W_hat = (gamma / sigma(W)) W, sigma the spectral norm by power iteration,
// gamma learned. Like the paper, all linear layers of attention and MLP are reparametrized, with queries, keys and
// values as separate matrices; embeddings are not.
#include <algorithm>
#include <cmath>

#include "support/error.h"
#include "support/parameter.h"
#include "support/random.h"
#include "training/projections.h"
#include "training/regularizers/regularizer.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr std::uint64_t kSpectralStream = std::uint64_t{1}
                                          << 40;  // beyond the streams of the blocks

template <class Scalar>
void normalize(Scalar* values, Index count) {
  Scalar square = 0;
  for (Index i = 0; i < count; ++i) square += values[i] * values[i];
  const Scalar inverse = 1 / std::sqrt(square + Scalar(1e-30));
  for (Index i = 0; i < count; ++i) values[i] *= inverse;
}

template <class Scalar>
class SigmaReparam final : public Regularizer<Scalar>, public Reparametrization<Scalar> {
 public:
  SigmaReparam(const TrainSettings& settings, const ParameterLayout& layout);

  Reparametrization<Scalar>* reparametrization() override { return this; }
  /// u and v of all matrices, one behind the other.
  std::span<Scalar> state() override { return vectors_; }

  /// gamma of every matrix.
  Index gains() const override { return static_cast<Index>(parts_.size()); }
  /// Iterates until no sigma changes by more than 1e-6 of itself from one iteration to the next, at most 2000 times.
  void begin(const Vector<Scalar>& raw) override;
  /// A power iteration: v <- W^T u / |.|, u <- W v / |.|.
  void follow(const Vector<Scalar>& raw) override {
    for (const Part& part : parts_) iterate(part, raw);
  }
  /// raw with W_hat in place of each W, sigma = u^T W v.
  void apply(const Vector<Scalar>& raw, Vector<Scalar>& parameters) const override;
  /// u and v held constant: dW = gamma/sigma (G - <G, W>/sigma u v^T), dgamma = <G, W>/sigma.
  void pull_back(const Vector<Scalar>& raw, const Vector<Scalar>& gradient,
                 Vector<Scalar>& raw_gradient) const override;

 private:
  struct Part : ProjectionPlace {
    std::size_t u, v;  // in vectors_
  };
  void iterate(const Part& part, const Vector<Scalar>& raw);
  Scalar sigma(const Part& part, const Vector<Scalar>& raw) const;

  Index size_;
  std::vector<Part> parts_;
  std::vector<Scalar> vectors_;
};

template <class Scalar>
SigmaReparam<Scalar>::SigmaReparam(const TrainSettings& settings, const ParameterLayout& layout)
    : size_(layout.size) {
  for (const ProjectionPlace& projection : projections_of(settings.model, layout)) {
    const std::size_t u = vectors_.size(), v = u + static_cast<std::size_t>(projection.rows);
    parts_.push_back({projection, u, v});
    vectors_.resize(v + static_cast<std::size_t>(projection.columns));
  }
  std::vector<float> draws(vectors_.size());
  NormalStream(settings.seed, kSpectralStream).fill(draws);
  for (std::size_t i = 0; i < draws.size(); ++i) vectors_[i] = static_cast<Scalar>(draws[i]);
}

template <class Scalar>
void SigmaReparam<Scalar>::begin(const Vector<Scalar>& raw) {
  constexpr int kMost = 2000;
  for (const Part& part : parts_) {
    Scalar before = 0;
    for (int k = 0; k < kMost; ++k) {
      iterate(part, raw);
      const Scalar now = sigma(part, raw);
      if (std::abs(now - before) <= Scalar(1e-6) * now) break;
      before = now;
    }
  }
}

template <class Scalar>
void SigmaReparam<Scalar>::iterate(const Part& part, const Vector<Scalar>& raw) {
  const Scalar* const w = raw.data() + part.offset;
  Scalar* const u = vectors_.data() + part.u;
  Scalar* const v = vectors_.data() + part.v;
  for (Index j = 0; j < part.columns; ++j) {
    Scalar sum = 0;
    for (Index i = 0; i < part.rows; ++i) sum += w[i + j * part.leading] * u[i];
    v[j] = sum;
  }
  normalize(v, part.columns);
  std::fill(u, u + part.rows, Scalar(0));
  for (Index j = 0; j < part.columns; ++j) {
    for (Index i = 0; i < part.rows; ++i) u[i] += w[i + j * part.leading] * v[j];
  }
  normalize(u, part.rows);
}

template <class Scalar>
Scalar SigmaReparam<Scalar>::sigma(const Part& part, const Vector<Scalar>& raw) const {
  const Scalar* const w = raw.data() + part.offset;
  const Scalar* const u = vectors_.data() + part.u;
  const Scalar* const v = vectors_.data() + part.v;
  Scalar total = 0;
  for (Index j = 0; j < part.columns; ++j) {
    Scalar sum = 0;
    for (Index i = 0; i < part.rows; ++i) sum += w[i + j * part.leading] * u[i];
    total += sum * v[j];
  }
  return total;
}

template <class Scalar>
void SigmaReparam<Scalar>::apply(const Vector<Scalar>& raw, Vector<Scalar>& parameters) const {
  parameters = raw.head(size_);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Part& part = parts_[k];
    const Scalar factor = raw[size_ + static_cast<Index>(k)] / sigma(part, raw);
    for (Index j = 0; j < part.columns; ++j) {
      parameters.segment(part.offset + j * part.leading, part.rows) *= factor;
    }
  }
}

template <class Scalar>
void SigmaReparam<Scalar>::pull_back(const Vector<Scalar>& raw, const Vector<Scalar>& gradient,
                                     Vector<Scalar>& raw_gradient) const {
  raw_gradient.resize(raw.size());
  raw_gradient.head(size_) = gradient;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Part& part = parts_[k];
    const Scalar* const w = raw.data() + part.offset;
    Scalar* const slope = raw_gradient.data() + part.offset;
    Scalar along = 0;
    for (Index j = 0; j < part.columns; ++j) {
      for (Index i = 0; i < part.rows; ++i) {
        along += slope[i + j * part.leading] * w[i + j * part.leading];
      }
    }
    const Scalar norm = sigma(part, raw), gamma = raw[size_ + static_cast<Index>(k)];
    along /= norm;
    raw_gradient[size_ + static_cast<Index>(k)] = along;
    for (Index j = 0; j < part.columns; ++j) {
      const Scalar right = along * vectors_[part.v + static_cast<std::size_t>(j)];
      for (Index i = 0; i < part.rows; ++i) {
        Scalar& entry = slope[i + j * part.leading];
        entry = gamma / norm * (entry - right * vectors_[part.u + static_cast<std::size_t>(i)]);
      }
    }
  }
}

// It sets the norm of every matrix itself.
void check(const TrainSettings& settings) {
  const OptimizerSettings& optimizer = settings.optimizer;
  for (const auto& [name, value] : {std::pair{"qk_clip", optimizer.qk_clip},
                                    std::pair{"growth_limit", optimizer.growth_limit}}) {
    if (value == 0) continue;
    throw InvalidArgument(name,
                          "be 0 with sigma-reparam, which sets the norm of every matrix itself",
                          "found " + shown(value));
  }
}

}  // namespace

constinit const RegularizerRow sigma_reparam_regularizer = regularizer<SigmaReparam>(
    "sigma-reparam", "sigmaReparam",
    {.state = "training.vectors", .of_query_key = false, .check = &check});

}  // namespace eigenscope
