#include "checkpoint/embedding_covariance.h"

#include <algorithm>
#include <utility>

#include "io/json_events.h"
#include "support/error.h"
#include "support/gemm.h"

namespace eigenscope {
namespace {

constexpr std::uint64_t kWidest = 16384;
constexpr std::uint64_t kBlockElements = std::uint64_t{1} << 20;  // 8 MiB of double

}  // namespace

EmbeddingCovariance::EmbeddingCovariance(std::shared_ptr<const Safetensors> tensors,
                                         std::string name)
    : tensors_(std::move(tensors)), name_(std::move(name)) {
  if (name_.empty()) {
    throw InvalidArgument("frame",
                          "be identity without a token embedding table that all stacks share",
                          tensors_->name() + " has none");
  }
  const TensorInfo& info = tensors_->tensor(name_);
  if (info.shape.size() != 2 || info.shape[0] < 2 || info.shape[1] < 1 || info.shape[1] > kWidest) {
    refuse_item(name_, {"its shape ", shape_text(info),
                        " is not that of a token embedding matrix, at most ",
                        std::to_string(kWidest), " wide"});
  }
  rows_ = info.shape[0];
  const auto width = static_cast<Eigen::Index>(info.shape[1]);
  first_ = tensors_->read_rows(name_, 0, 1).transpose();
  sum_ = Eigen::VectorXd::Zero(width);
  squares_ = Eigen::MatrixXd::Zero(width, width);
}

void EmbeddingCovariance::advance() {
  if (done()) return;
  const auto width = static_cast<std::uint64_t>(first_.size());
  const std::uint64_t end =
      std::min(rows_, read_ + std::max<std::uint64_t>(1, kBlockElements / width));
  Eigen::MatrixXd block = tensors_->read_rows(name_, read_, end);
  if (!block.allFinite()) {
    refuse_item(name_, "it holds NaN or infinite values");
  }
  // Differences from the first embedding, so that a large common mean does not cancel digits.
  block.rowwise() -= first_.transpose();
  sum_ += block.colwise().sum().transpose();
  multiply(block.cols(), block.cols(), block.rows(),
           factor(block.data(), block.rows()).transposed(), factor(block.data(), block.rows()),
           squares_.data(), squares_.rows(), /*add=*/true);
  read_ = end;
  if (done()) finish();
}

void EmbeddingCovariance::finish() {
  for (Eigen::Index j = 0; j < sum_.size(); ++j) {
    squares_.col(j) -= sum_(j) / static_cast<double>(rows_) * sum_;
  }
  const double trace = squares_.trace();
  if (!(trace > 0)) refuse_item(name_, "all its rows are equal");
  squares_ *= static_cast<double>(squares_.rows()) / trace;
  covariance_ = std::make_shared<const Eigen::MatrixXd>(std::move(squares_));
}

}  // namespace eigenscope
