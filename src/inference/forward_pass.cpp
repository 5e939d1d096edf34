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
      pass_(*model_, passages_.size(), passages_.size()) {
  if (passages_.empty()) throw InvalidArgument("passages", "number at least one");
  pass_.embed(passages_);
  for (const Passage& passage : passages_) longest_ = std::max(longest_, passage.length());
}

const LayerWeights& ForwardPass::weights() {
  if (!weights_) {
    weights_ = model_->read_heads(layer());
    turns_ = RotaryTurns(model_->rules(layer()).rotary, longest_);
  }
  return *weights_;
}

std::size_t ForwardPass::passages_of_task() const {
  constexpr Index kTokens = 512;  // fewer make the products with the weights slow
  constexpr double kWork = 3e9;   // more make a step long
  const LayerRules& rules = model_->rules(layer());
  const double work = static_cast<double>(model_->width()) * static_cast<double>(longest_) *
                      static_cast<double>((rules.heads + 2 * rules.key_heads) * rules.head_width);
  const std::size_t share = (passages_.size() - 1) / processors() + 1;
  return std::min({share, static_cast<std::size_t>((kTokens - 1) / longest_ + 1),
                   std::max<std::size_t>(1, static_cast<std::size_t>(kWork / work))});
}

std::size_t ForwardPass::passages_of_step(std::size_t most) const {
  return std::min({most, processors() * passages_of_task(), passages_.size() - passage()});
}

double ForwardPass::advance(const PassageVisitors& visitors, std::size_t most) {
  if (pass_.heads_done()) {
    weights_.reset();
    return pass_.advance_rest();
  }
  weights();
  const std::size_t end = passage() + passages_of_step(most);
  for (std::size_t first = passage(); first < end; first += passages_of_task()) {
    running_.add([this, first, last = std::min(first + passages_of_task(), end), &visitors] {
      return run_heads_of(first, last, visitors);
    });
  }
  running_.finish();
  double work = 0;
  for (const double task : running_.take()) work += task;
  pass_.end_units(end - passage());
  if (pass_.heads_done() && pass_.is_last_with_heads() && end_ == LayerEnd::heads) {
    weights_.reset();
    pass_.end();
  }
  return work;
}

double ForwardPass::run_heads_of(std::size_t first, std::size_t end,
                                 const PassageVisitors& visitors) {
  Index columns = 0;
  for (std::size_t k = first; k < end; ++k) columns += pass_.tokens[k].cols();
  MatrixXf states;
  Index column = 0;
  for (std::size_t k = first; k < end; ++k) {
    const MatrixXf of_passage = pass_.states(*weights_, k);
    if (visitors.states) visitors.states(k, of_passage);
    if (k == first) states.resize(of_passage.rows(), columns);
    states.middleCols(column, of_passage.cols()) = of_passage;
    column += of_passage.cols();
  }
  const HeadTokens all = all_tokens(*weights_, states);
  double work = static_cast<double>(states.size()) *
                static_cast<double>(all.queries.rows() + 2 * all.keys.rows());
  column = 0;
  for (std::size_t k = first; k < end; ++k) {
    const Index length = pass_.tokens[k].cols();
    const auto of_passage = [&](const MatrixXf& from) { return from.middleCols(column, length); };
    AttentionEdit edit;
    if (visitors.edit) edit = visitors.edit(k);
    HeadVisitor visit;
    if (visitors.head) {
      visit = [&](int head, const HeadTrace& trace) { visitors.head(k, head, trace); };
    }
    pass_.read[k] = run_heads(
        *weights_, model_->rules(layer()), turns_,
        {of_passage(all.queries), of_passage(all.keys), of_passage(all.values)}, edit, visit);
    work += 2 * static_cast<double>(pass_.read[k].size()) * static_cast<double>(length);
    column += length;
  }
  return work;
}

Index ForwardPass::steps_done() const {
  const auto passages = static_cast<double>(passages_.size());
  const double in_layer = (static_cast<double>(passage()) + pass_.rest_progress() * passages) / 2;
  return layer() * static_cast<Index>(passages_.size()) + static_cast<Index>(in_layer);
}

Index ForwardPass::steps_wanted() const {
  return model_->layers() * static_cast<Index>(passages_.size());
}

}  // namespace eigenscope
