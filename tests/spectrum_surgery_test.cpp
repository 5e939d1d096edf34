// Surgery on the spectrum of a head: the matrices that it makes, and a small causal model.
#include "labs/spectrum_surgery.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "catch.h"
#include "inference/head_ablation.h"
#include "inference_models.h"
#include "support/error.h"
#include "test_matrices.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr Index kWidth = 8, kRank = 3;

MatrixXd projector_on(const MatrixXd& columns) {
  const MatrixXd basis = Eigen::HouseholderQR<MatrixXd>(columns).householderQ() *
                         MatrixXd::Identity(columns.rows(), columns.cols());
  return basis * basis.transpose();
}

// A head and tokens whose covariance is known.
struct Known {
  MatrixXd query = random_matrix(kWidth, kRank, 1), key = random_matrix(kWidth, kRank, 2);
  MatrixXd root, normal = random_matrix(kWidth, kRank, 3), inverse_root;
  VectorXd mean = random_matrix(kWidth, 1, 4), bias = random_matrix(kRank, 1, 5);

  Known() {
    const MatrixXd any = random_matrix(kWidth, kWidth, 6);
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(any * any.transpose() / 4 +
                                                         MatrixXd::Identity(kWidth, kWidth) / 10);
    root = solver.operatorSqrt();
    inverse_root = solver.operatorInverseSqrt();
  }
  SurgeryFrame frame() const {
    const MatrixXd a = root * query * key.transpose() * root;
    SurgeryFrame frame;
    frame.query_mean = query.transpose() * mean + bias;
    frame.key_mean = key.transpose() * mean;
    frame.key_covariance = key.transpose() * root * root * key;
    frame.trace = a.trace();
    frame.norm = a.norm();
    frame.bare_keys = key.transpose() * key;
    frame.bare_trace = (query * key.transpose()).trace();
    frame.bare_norm = (query * key.transpose()).norm();
    frame.sink = VectorXd::LinSpaced(kRank, 1, 2);
    frame.features = {normal.transpose() * normal};
    frame.features_keys = {normal.transpose() * root * key};
    return frame;
  }
  // W_Q' W_K^T after an edit.
  MatrixXd after(const QueryEdit& edit) const {
    MatrixXd queries = edit.query * query.transpose() + edit.key * key.transpose();
    if (edit.random.size() > 0) queries += edit.random * normal.transpose() * inverse_root;
    return queries.transpose() * key.transpose();
  }
};

std::vector<Passage> passages_of(std::size_t count) {
  const std::vector<std::vector<int>> ids{{3, 1, 4, 2, 5, 0, 6}, {2, 6, 1, 0, 3, 5, 4},
                                          {5, 2, 0, 6, 1, 4, 3}, {1, 0, 5, 3, 6, 2, 4},
                                          {0, 4, 2, 6, 5, 1, 3}, {6, 3, 0, 1, 2, 4, 5}};
  std::vector<Passage> passages;
  for (std::size_t i = 0; i < count; ++i) passages.push_back({ids[i], 0, 0});
  return passages;
}

}  // namespace

TEST_CASE("surgery changes the spectrum as it says, and keeps the mean query") {
  const Known head;
  const SurgeryFrame frame = head.frame();
  const MatrixXd bare = head.query * head.key.transpose(), a = head.root * bare * head.root;
  const MatrixXd p = projector_on(head.root * head.key), bare_p = projector_on(head.key);
  std::map<std::tuple<Surgery, double>, double> norms;  // of the changes of A
  std::map<Surgery, int> seen;
  for (const SurgeryEdit& edit : surgery_edits(frame)) {
    CAPTURE(edit.surgery, edit.dose);
    ++seen[edit.surgery];
    const MatrixXd w = head.after(edit), changed = head.root * w * head.root;
    norms[{edit.surgery, edit.dose}] = (changed - a).norm();
    const bool is_bare = edit.surgery == Surgery::bare_mean || edit.surgery == Surgery::bare_shrink;
    const MatrixXd &before = is_bare ? bare : a, &now = is_bare ? w : changed,
                   &on = is_bare ? bare_p : p;
    const double norm = before.norm(), m = before.trace() / kRank;
    switch (edit.surgery) {
      case Surgery::none:
        CHECK((now - before).norm() < 1e-10);
        break;
      case Surgery::mean:
      case Surgery::bare_mean: {
        const MatrixXd wanted = before + edit.dose * norm / std::sqrt(double(kRank)) * on;
        CHECK((now - norm / wanted.norm() * wanted).norm() < 1e-9 * norm);
        break;
      }
      case Surgery::shrink:
      case Surgery::bare_shrink:
        CHECK((now - m * on - (1 - edit.dose) * (before - m * on)).norm() < 1e-9 * norm);
        CHECK_THAT(now.trace(), WithinRel(before.trace(), 1e-9));
        break;
      case Surgery::random_mean:
      case Surgery::random_shrink: {
        CHECK_THAT(now.trace(), WithinRel(a.trace(), 1e-9));
        CHECK((now * p - now).norm() < 1e-9 * norm);
        const Surgery of = edit.surgery == Surgery::random_mean ? Surgery::mean : Surgery::shrink;
        CHECK_THAT((now - a).norm(), WithinRel(norms.at({of, edit.dose}), 1e-9));
        break;
      }
      case Surgery::sink: {
        const MatrixXd q = random_matrix(kRank, 5, 9);
        const MatrixXd left = edit.queries(q, q, q);
        const VectorXd along = frame.sink.transpose() * q;
        const VectorXd still = frame.sink.transpose() * left;
        CHECK((still - (1 - edit.dose) * along).norm() < 1e-9);
        continue;
      }
    }
    const MatrixXd none = MatrixXd::Zero(kRank, 1);
    CHECK((edit.queries(frame.query_mean, frame.key_mean, none) - frame.query_mean).norm() < 1e-9);
  }
  CHECK(seen[Surgery::mean] == 7);
  CHECK(seen[Surgery::random_shrink] == 7);
  CHECK(seen.size() == kSurgeryNames.size());
}

TEST_CASE("a variance is shrunk, then a mean is added at the norm that is left") {
  const Known head;
  const SurgeryFrame frame = head.frame();
  const MatrixXd a = head.root * head.query * head.key.transpose() * head.root;
  const MatrixXd p = projector_on(head.root * head.key);
  const double m = a.trace() / kRank;
  for (const auto& [added, shrunk] :
       {std::pair(0.0, 0.0), std::pair(0.7, 0.4), std::pair(-0.5, -0.3), std::pair(2.0, 1.0)}) {
    CAPTURE(added, shrunk);
    const SpectrumChange change(frame.trace, frame.norm, kRank, added, shrunk);
    const MatrixXd now = head.after(
        edit_around_means(frame, change.query, change.key * inverse_of_keys(frame.key_covariance)));
    const MatrixXd got = head.root * now * head.root;
    const MatrixXd left = m * p + (1 - shrunk) * (a - m * p);
    const MatrixXd wanted = left + added * left.norm() / std::sqrt(double(kRank)) * p;
    CHECK((got - left.norm() / wanted.norm() * wanted).norm() < 1e-9 * a.norm());
    CHECK_THAT(change.mean, WithinRel(got.trace() / kRank, 1e-9));
    CHECK_THAT(change.variance,
               WithinAbs(got.squaredNorm() / kRank - change.mean * change.mean, 1e-9));
  }
}

TEST_CASE("surgery refuses content whose keys do not span the head") {
  SurgeryFrame frame = Known().frame();
  frame.key_covariance.row(1).setZero();
  frame.key_covariance.col(1).setZero();
  CHECK_THROWS_AS(surgery_edits(frame), InvalidArgument);
}

TEST_CASE("surgery on a causal model: an unchanged head is as trained, the null is as large") {
  const auto model = transformer_of(tiny_gpt2());
  const std::vector<Passage> all = passages_of(6);
  const std::vector<Passage> measured(all.begin() + 3, all.end());
  const std::vector<Passage> statistics(all.begin(), all.begin() + 3);
  SpectrumSurgery lab(model, statistics, measured, {64, 2, 5, true});
  while (!lab.advance(1e6)) continue;
  CHECK(lab.steps_done() == lab.steps_wanted());

  std::vector<HeadMeter> trained(kTinyLayers * kTinyHeads);
  ForwardPass pass(model, measured);
  while (!pass.done()) {
    const int layer = pass.layer();
    pass.advance({.head =
                      [&](std::size_t, int head, const HeadTrace& trace) {
                        trained[static_cast<std::size_t>(layer) * kTinyHeads +
                                static_cast<std::size_t>(head)]
                            .add(trace.logits, trace.weights, model->rules(layer),
                                 SinkKeys::of(all[0]));
                      }},
                 1);
  }
  std::vector<std::vector<HeadPlace>> each;
  for (int layer = 0; layer < kTinyLayers; ++layer) {
    for (int head = 0; head < static_cast<int>(kTinyHeads); ++head) each.push_back({{layer, head}});
  }
  HeadAblation ablation(model, measured, Ablation::zero, each, {});
  while (!ablation.advance(1e6)) continue;
  const double trained_loss = lab.rows().front().loss;
  CHECK_THAT(trained_loss, WithinRel(ablation.loss(), 1e-6));

  double mean_size = 0;
  int moved = 0, changed = 0;
  for (const SurgeryRow& row : lab.rows()) {
    const HeadMeasures& plain = trained[static_cast<std::size_t>(row.layer) * kTinyHeads +
                                        static_cast<std::size_t>(row.head)]
                                    .measures();
    CHECK(row.predicted.row.entropy > 0);
    if (row.surgery == Surgery::none) {
      CHECK(row.size < 1e-12);
      CHECK_THAT(row.measured.row.entropy, WithinAbs(plain.row.entropy, 1e-5));
      CHECK_THAT(row.measured.row.sink_first, WithinAbs(plain.row.sink_first, 1e-5));
    }
    if (row.surgery == Surgery::mean) {
      mean_size = row.size;
      moved += std::abs(row.measured.row.entropy - plain.row.entropy) > 1e-3;
    }
    changed += std::abs(row.loss - trained_loss) > 1e-6;
    if (row.surgery == Surgery::none) CHECK_THAT(row.loss, WithinRel(trained_loss, 1e-6));
    CHECK_THAT(row.loss_without,
               WithinRel(ablation.loss(static_cast<std::size_t>(row.layer * kTinyHeads + row.head)),
                         1e-9));
    if (row.surgery == Surgery::random_mean) CHECK_THAT(row.size, WithinRel(mean_size, 1e-6));
  }
  CHECK(moved > 20);
  CHECK(changed > static_cast<int>(lab.rows().size()) / 2);

  // A head that was prepared, and written as bytes, does the same at the same dose.
  SurgeryPass prepared(model, statistics, measured, measured[1], {64, 5});
  while (!prepared.ready() || prepared.layer() < 1) prepared.advance();
  const std::vector<std::byte> bytes = bytes_of(prepared.head(1));
  const HeadSurgery head(prepared_head_of(bytes));
  const MatrixXd inverse = inverse_of_keys(head.content().key_covariance);
  const auto edit = [&](double added, double shrunk) {
    const SpectrumChange change(head.content().trace, head.content().norm,
                                static_cast<double>(inverse.rows()), added, shrunk);
    return edit_around_means(head.content(), change.query, change.key * inverse);
  };
  int compared = 0;
  for (const SurgeryRow& row : lab.rows()) {
    if (row.layer != 1 || row.head != 1) continue;
    if (row.surgery != Surgery::mean && row.surgery != Surgery::shrink) continue;
    const bool adds = row.surgery == Surgery::mean;
    const HeadEffect effect = head.effect(edit(adds ? row.dose : 0, adds ? 0 : row.dose));
    CHECK(effect.size == row.size);
    CHECK(effect.predicted.row.entropy == row.predicted.row.entropy);
    CHECK(effect.predicted.localization == row.predicted.localization);
    CHECK(effect.measured.row.sink_first == row.measured.row.sink_first);
    ++compared;
  }
  CHECK(compared == 14);
  ForwardPass again(model, {measured[1]});
  while (!again.done()) {
    const int layer = again.layer();
    again.advance({.head = [&](std::size_t, int number, const HeadTrace& trace) {
      if (layer != 1 || number != 1) return;
      CHECK((head.weights(edit(0, 0)) - trace.weights).norm() < 1e-5);
    }});
  }

  for (std::size_t size = 0; size < bytes.size(); size += 61) {
    CHECK_THROWS_AS(prepared_head_of(std::span(bytes).first(size)), InvalidArgument);
  }
  std::vector<std::byte> more = bytes;
  more.push_back(std::byte{0});
  CHECK_THROWS_AS(prepared_head_of(more), InvalidArgument);
}
