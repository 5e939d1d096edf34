#include "checkpoint/layer_scores.h"

#include <algorithm>
#include <span>
#include <utility>

#include "spectrum/directionality.h"
#include "support/gemm.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kTile = 512;
/// Columns of heads side by side, by which a tile is updated at once: as many as multiply() adds up in one go.
constexpr Index kJoined = 512;

Index width_of(const ScannedHead& head) {
  return std::visit([](const auto& factors) { return factors.query.rows(); }, head);
}

Index head_width_of(const ScannedHead& head) {
  return std::visit([](const auto& factors) { return factors.query.cols(); }, head);
}

/// The part of W with rows from `row` and columns from `column` on.
MatrixXd tile_of(const std::vector<ScannedHead>& heads, Index row, Index column) {
  const Index d = width_of(heads.front());
  MatrixXd tile = MatrixXd::Zero(std::min(kTile, d - row), std::min(kTile, d - column));
  for (const ScannedHead& head : heads) {
    std::visit(
        [&]<class Scalar>(const FactorsOf<Scalar>& factors) {
          const Product<Scalar, double> product{tile.rows(),
                                                tile.cols(),
                                                factor(factors.query.data() + row, d),
                                                factor(factors.key.data() + column, d).transposed(),
                                                tile.data(),
                                                tile.rows(),
                                                /*add=*/true};
          multiply<Scalar, double>(factors.query.cols(), {&product, 1});
        },
        head);
  }
  return tile;
}

/// Adds the queries of a head to those of `sum` if both have the same keys.
bool add_shared(ScannedHead& sum, const ScannedHead& head) {
  return std::visit(
      [&]<class Scalar>(FactorsOf<Scalar>& factors) {
        const auto* const other = std::get_if<FactorsOf<Scalar>>(&head);
        if (other == nullptr || factors.key.cols() != other->key.cols() ||
            factors.key != other->key) {
          return false;
        }
        factors.query += other->query;
        return true;
      },
      sum);
}

template <class Scalar>
FactorsOf<Scalar> side_by_side(std::span<const ScannedHead> heads) {
  Index columns = 0;
  for (const ScannedHead& head : heads) columns += head_width_of(head);
  FactorsOf<Scalar> all{};
  all.query.resize(width_of(heads.front()), columns);
  all.key.resizeLike(all.query);
  Index at = 0;
  for (const ScannedHead& head : heads) {
    std::visit(
        [&](const auto& factors) {
          all.query.middleCols(at, factors.query.cols()) = factors.query.template cast<Scalar>();
          all.key.middleCols(at, factors.key.cols()) = factors.key.template cast<Scalar>();
          at += factors.query.cols();
        },
        head);
  }
  return all;
}

}  // namespace

void LayerScores::join() {
  std::vector<ScannedHead>& heads = layer_->heads;
  const std::span<const ScannedHead> last = std::span(heads).subspan(layer_->joined);
  if (last.size() < 2) {
    layer_->joined = heads.size();
    return;
  }
  const bool single = std::all_of(last.begin(), last.end(), [](const ScannedHead& head) {
    return std::holds_alternative<FactorsOf<float>>(head);
  });
  ScannedHead all = single ? ScannedHead(side_by_side<float>(last)) : side_by_side<double>(last);
  heads.erase(heads.begin() + static_cast<std::ptrdiff_t>(layer_->joined), heads.end());
  heads.push_back(std::move(all));
  layer_->joined = heads.size();
}

void LayerScores::add(ScannedHead head) {
  const auto [stack, layer] =
      std::visit([](const auto& factors) { return std::pair(factors.stack, factors.layer); },
                 std::as_const(head));
  if (layer_ == nullptr || layer_->score.layer != layer || layer_->score.stack != stack) {
    end_layer();
    layer_ = std::make_shared<Layer>();
    layer_->score = {stack, layer};
  }
  ++layer_->score.heads;
  std::vector<ScannedHead>& heads = layer_->heads;
  if (heads.size() > layer_->joined && add_shared(heads.back(), head)) return;
  Index columns = head_width_of(head);
  for (std::size_t i = layer_->joined; i < heads.size(); ++i) columns += head_width_of(heads[i]);
  if (columns > kJoined) join();
  heads.push_back(std::move(head));
}

void LayerScores::finish() { end_layer(); }

void LayerScores::end_layer() {
  if (layer_ == nullptr) return;
  join();
  const Index d = width_of(layer_->heads.front());
  layer_->row_squares = layer_->column_squares = VectorXd::Zero(d);
  tiles_.clear();
  tile_ = 0;
  for (Index row = 0; row < d; row += kTile) {
    for (Index column = row; column < d; column += kTile) tiles_.push_back({layer_, row, column});
  }
  layer_ = nullptr;
}

LayerScores::TileSums LayerScores::sums_of(const Tile& tile) {
  const std::vector<ScannedHead>& heads = tile.layer->heads;
  const Index d = width_of(heads.front());
  TileSums sums{tile, VectorXd::Zero(d), VectorXd::Zero(d)};
  const MatrixXd upper = tile_of(heads, tile.row, tile.column);
  const auto add = [&](const MatrixXd& part, Index row, Index column) {
    sums.row_squares.segment(row, part.rows()) += part.rowwise().squaredNorm();
    sums.column_squares.segment(column, part.cols()) += part.colwise().squaredNorm();
  };
  add(upper, tile.row, tile.column);
  if (tile.row == tile.column) {
    sums.crossed = upper.cwiseProduct(upper.transpose()).sum();
    return sums;
  }
  const MatrixXd lower = tile_of(heads, tile.column, tile.row);
  add(lower, tile.column, tile.row);
  sums.crossed = 2 * upper.cwiseProduct(lower.transpose()).sum();
  return sums;
}

double LayerScores::score_tile() {
  const Tile tile = tiles_[tile_++];
  running_.add([tile] { return sums_of(tile); });
  if (!has_tiles()) {
    tiles_.clear();
    tile_ = 0;
    running_.finish();
    take_sums();
  }
  double inner = 0;
  for (const ScannedHead& head : tile.layer->heads) {
    inner += static_cast<double>(head_width_of(head));
  }
  return 2 * static_cast<double>(kTile * kTile) * inner;
}

void LayerScores::take_sums() {
  std::shared_ptr<Layer> layer;
  for (const TileSums& sums : running_.take()) {
    layer = sums.of.layer;
    layer->row_squares += sums.row_squares;
    layer->column_squares += sums.column_squares;
    layer->crossed += sums.crossed;
  }
  layer->score.symmetry = layer->crossed / layer->row_squares.sum();
  layer->score.directionality =
      directionality(layer->row_squares.cwiseSqrt(), layer->column_squares.cwiseSqrt());
  scores_.push_back(layer->score);
}

}  // namespace eigenscope
