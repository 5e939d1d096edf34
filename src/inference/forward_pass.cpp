#include "inference/forward_pass.h"

#include <algorithm>
#include <utility>

#include "support/error.h"

namespace eigenscope {

using Eigen::Index;
using Eigen::MatrixXf;

ForwardPass::ForwardPass(std::shared_ptr<const Transformer> model, std::vector<Passage> passages,
                         LayerEnd to)
    : model_(std::move(model)),
      passages_(std::move(passages)),
      end_(to),
      rest_(*model_, read_, tokens_) {
  if (passages_.empty()) throw InvalidArgument("passages", "number at least one");
  for (const Passage& passage : passages_) {
    tokens_.push_back(model_->embed(passage));
    longest_ = std::max(longest_, passage.length());
  }
  read_.resize(passages_.size());
}

const LayerWeights& ForwardPass::weights() {
  if (!weights_) {
    weights_ = model_->read_heads(layer_);
    turns_ = RotaryTurns(model_->rules(layer_).rotary, longest_);
  }
  return *weights_;
}

std::size_t ForwardPass::passages_of_task() const {
  constexpr Index kTokens = 512;  // fewer make the products with the weights slow
  constexpr double kWork = 3e9;   // more make a step long
  const LayerRules& rules = model_->rules(layer_);
  const double own = static_cast<double>(model_->width()) * static_cast<double>(longest_) *
                     static_cast<double>((rules.heads + 2 * rules.key_heads) * rules.head_width);
  const std::size_t share = (passages_.size() - 1) / processors() + 1;
  return std::min({share, static_cast<std::size_t>((kTokens - 1) / longest_ + 1),
                   std::max<std::size_t>(1, static_cast<std::size_t>(kWork / own))});
}

std::size_t ForwardPass::passages_of_step(std::size_t most) const {
  return std::min({most, processors() * passages_of_task(), passages_.size() - passage_});
}

double ForwardPass::advance(const PassageVisitors& visitors, std::size_t most) {
  if (passage_ == passages_.size()) {
    if (rest_.done()) rest_.start(layer_);
    weights_.reset();
    const double work = rest_.advance();
    if (rest_.done()) end_layer();
    return work;
  }
  weights();
  const std::size_t end = passage_ + passages_of_step(most);
  for (std::size_t first = passage_; first < end; first += passages_of_task()) {
    running_.add([this, first, last = std::min(first + passages_of_task(), end), &visitors] {
      return run_heads_of(first, last, visitors);
    });
  }
  running_.finish();
  double work = 0;
  for (const double own : running_.take()) work += own;
  passage_ = end;
  if (passage_ == passages_.size() && ends_with_heads()) end_layer();
  return work;
}

double ForwardPass::run_heads_of(std::size_t first, std::size_t end,
                                 const PassageVisitors& visitors) {
  Index columns = 0;
  for (std::size_t k = first; k < end; ++k) columns += tokens_[k].cols();
  MatrixXf states(tokens_[first].rows(), columns);
  Index column = 0;
  for (std::size_t k = first; k < end; ++k) {
    const MatrixXf own = states_of(*weights_, tokens_[k]);
    if (visitors.states) visitors.states(k, own);
    states.middleCols(column, own.cols()) = own;
    column += own.cols();
  }
  const HeadTokens all = all_tokens(*weights_, states);
  double work = static_cast<double>(states.size()) *
                static_cast<double>(all.queries.rows() + 2 * all.keys.rows());
  column = 0;
  for (std::size_t k = first; k < end; ++k) {
    const Index length = tokens_[k].cols();
    const auto own = [&](const MatrixXf& from) { return from.middleCols(column, length); };
    AttentionEdit edit;
    if (visitors.edit) edit = visitors.edit(k);
    HeadVisitor visit;
    if (visitors.head) {
      visit = [&](int head, const HeadTrace& trace) { visitors.head(k, head, trace); };
    }
    read_[k] = run_heads(*weights_, model_->rules(layer_), turns_,
                         {own(all.queries), own(all.keys), own(all.values)}, edit, visit);
    work += 2 * static_cast<double>(read_[k].size()) * static_cast<double>(length);
    column += length;
  }
  return work;
}

bool ForwardPass::ends_with_heads() const {
  return layer_ + 1 == model_->layers() && (end_ == LayerEnd::heads || !model_->experts().empty());
}

void ForwardPass::end_layer() {
  weights_.reset();
  passage_ = 0;
  ++layer_;
}

Index ForwardPass::steps_done() const {
  const auto passages = static_cast<double>(passages_.size());
  const double rest = rest_.done() ? 0 : rest_.progress();
  const double own = (static_cast<double>(passage_) + rest * passages) / 2;
  return layer_ * static_cast<Index>(passages_.size()) + static_cast<Index>(own);
}

Index ForwardPass::steps_wanted() const {
  return model_->layers() * static_cast<Index>(passages_.size());
}

}  // namespace eigenscope
