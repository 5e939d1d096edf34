#include "inference/layer_rest.h"

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>

#include "support/error.h"
#include "support/finite.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

constexpr double kStepWork = 3e8;
constexpr Index kFewestColumns =
    256;  // of a step, where there are as many: fewer make the product slow

/// Fills `all` with passages `first` to `end` - 1 side by side.
void join(const std::vector<MatrixXf>& passages, std::size_t first, std::size_t end, Index columns,
          MatrixXf& all) {
  all.resize(passages[first].rows(), columns);
  Index column = 0;
  for (std::size_t k = first; k < end; ++k) {
    all.middleCols(column, passages[k].cols()) = passages[k];
    column += passages[k].cols();
  }
}

}  // namespace

LayerRest::LayerRest(const Transformer& model, const std::vector<PassageMemory>& memory,
                     const std::vector<MatrixXf>& read, std::vector<MatrixXf>& tokens,
                     Index most_hidden)
    : model_(model), memory_(memory), read_(read), tokens_(tokens), most_hidden_(most_hidden) {}

void LayerRest::start(int layer) {
  stored_ = model_.rest(layer);
  rules_ = model_.rules(layer);
  layer_ = layer;
  parts_.clear();
  part_ = 0;
  work_ = work_done_ = 0;
  const auto size = [](const StoredLinear& map) {
    return static_cast<double>(map.outputs()) * static_cast<double>(map.inputs());
  };
  const auto size_of = [&](const StoredMlp& mlp) {
    return size(mlp.gate) + size(mlp.up) + size(mlp.down);
  };
  double weights = size(stored_.attention_output);
  Index hidden = 0;
  for (const StoredLinear& map : stored_.mixer_inputs) weights += size(map);
  if (const auto& mixture = stored_.mixture) {
    for (const StoredMlp& expert : mixture->experts) {
      hidden = std::max(hidden, expert.up.outputs());
    }
    weights += mixture->router.rules.chosen * size_of(mixture->experts.front());
    if (mixture->router.shared) weights += size_of(mixture->experts.back());
  } else {
    hidden = stored_.mlp.up.outputs();
    weights += size_of(stored_.mlp);
  }
  if (const auto& input = stored_.layer_input) {
    hidden = std::max(hidden, input->maps.up.outputs());
    weights += size_of(input->maps);
  }
  if (weights == 0) return;  // a layer that is skipped
  stage_ = first_stage();
  if (stored_.mixer) hidden = std::max(hidden, outputs());
  for (std::size_t k = 0; k < tokens_.size(); ++k) {
    const Index length = tokens_[k].cols();
    if (parts_.empty() || (parts_.back().columns + length) * hidden > most_hidden_) {
      parts_.push_back({k, k, 0});
    }
    parts_.back().end = k + 1;
    parts_.back().columns += length;
    work_ += weights * static_cast<double>(length);
  }
  begin_part();
}

LayerRest::Stage LayerRest::first_stage() const {
  if (stored_.mixer) return Stage::mixer_input;
  return stored_.attention_output.outputs() > 0 ? Stage::attention_output : Stage::hidden;
}

void LayerRest::begin_part() {
  stage_ = first_stage();
  if (done() || stage_ != Stage::hidden) return;
  const auto& [first, end, columns] = parts_[part_];
  join(tokens_, first, end, columns, entered_);
  states_ = stored_.norms.mlp_norm(entered_);
  if (stored_.mixture) start_mixture();
}

Index LayerRest::outputs() const {
  if (stage_ != Stage::mixer_input) return map().outputs();
  Index all = 0;
  for (const StoredLinear& map : stored_.mixer_inputs) all += map.outputs();
  return all;
}

const StoredLinear& LayerRest::map() const {
  if (stage_ == Stage::mixer_input) return stored_.mixer_inputs[input_map_];
  if (stage_ == Stage::attention_output) return stored_.attention_output;
  return stage_ == Stage::hidden ? mlp().up : mlp().down;
}

const StoredMlp& LayerRest::mlp() const {
  if (at_input_) return stored_.layer_input->maps;
  return stored_.mixture ? stored_.mixture->experts[static_cast<std::size_t>(expert_)]
                         : stored_.mlp;
}

bool LayerRest::gated() const { return stage_ == Stage::hidden && mlp().gate.outputs() > 0; }

double LayerRest::advance() {
  if (!block_) read_block();
  const Index columns = input().cols();
  const double work = static_cast<double>(map().inputs() * block_->main.count * (gated() ? 2 : 1));
  const auto most = std::max(kFewestColumns, static_cast<Index>(kStepWork / work));
  // Steps of about the same size.
  const Index steps = (columns - column_ + most - 1) / most;
  const Index count = (columns - column_ + steps - 1) / steps;
  add_task(count);
  column_ += count;
  const double done = work * static_cast<double>(count);
  work_done_ += done;
  if (column_ < columns) return done;
  column_ = 0;
  row_ += std::exchange(block_, nullptr)->main.count;
  if (row_ == map().outputs()) end_stage();
  return done;
}

void LayerRest::read_block() {
  const std::shared_ptr<Block> block = free_block();
  map().read_block(row_, block->main);
  if (gated()) mlp().gate.read_block(row_, block->gate);
  if (row_ == 0 && first_row_ == 0) enter_stage();
  block_ = block;
}

void LayerRest::enter_stage() {
  const auto& [first, end, columns] = parts_[part_];
  if (stage_ == Stage::mixer_input) {
    join(tokens_, first, end, columns, entered_);
    states_ = states_of(stored_.norms, entered_);
  } else if (stage_ == Stage::attention_output && !stored_.mixer) {
    join(read_, first, end, columns, states_);
  }
  output().resize(outputs(), input().cols());
}

std::shared_ptr<LayerRest::Block> LayerRest::free_block() {
  const auto is_free = [](const std::shared_ptr<Block>& block) { return block.use_count() == 1; };
  const auto block = std::find_if(blocks_.begin(), blocks_.end(), is_free);
  if (block == blocks_.end()) return blocks_.emplace_back(std::make_shared<Block>());
  std::atomic_thread_fence(std::memory_order_acquire);  // after the last task's use
  return *block;
}

void LayerRest::add_task(Index count) {
  const bool is_hidden = stage_ == Stage::hidden, is_gated = gated();
  const Index inputs = input().rows(), outputs = output().rows();  // of all maps of the stage
  const Factor<float> x = factor(input().data() + column_ * inputs, inputs);
  // A block of the output that this task alone writes, in place.
  float* const out = output().data() + first_row_ + row_ + column_ * outputs;
  running_.add([this, block = block_, x, out, outputs, count, is_hidden, is_gated] {
    (is_gated ? block->gate : block->main).apply(x, count, out, outputs);
    if (!is_hidden) return count;
    const Index rows = block->main.count;
    MatrixXf up;
    if (is_gated) {
      up.resize(rows, count);
      block->main.apply(x, count, up.data(), rows);
    }
    const float bound = is_gated ? rules_.gate_bound : 0;
    for (Index t = 0; t < count; ++t) {
      float* const values = out + t * outputs;
      for (Index i = 0; bound > 0 && i < rows; ++i) values[i] = std::min(values[i], bound);
      const std::span<float> hidden(values, static_cast<std::size_t>(rows));
      if (const auto& xielu = stored_.norms.xielu) {
        activate(*xielu, hidden);
      } else {
        activate<float>(rules_.activation, hidden);
      }
      if (!is_gated) continue;
      const float* const factors = up.data() + t * rows;
      if (bound > 0) {
        for (Index i = 0; i < rows; ++i) values[i] *= std::clamp(factors[i], -bound, bound) + 1;
      } else {
        for (Index i = 0; i < rows; ++i) values[i] *= factors[i];
      }
    }
    return count;
  });
}

void LayerRest::end_stage() {
  running_.finish();
  running_.take();
  row_ = 0;
  const auto& [first, end, columns] = parts_[part_];
  switch (stage_) {
    case Stage::mixer_input:
      first_row_ += map().outputs();
      if (++input_map_ < stored_.mixer_inputs.size()) return;
      input_map_ = 0;
      first_row_ = 0;
      mix_passages();
      stage_ = Stage::attention_output;
      return;
    case Stage::attention_output:
      join(tokens_, first, end, columns, entered_);
      states_ = enter_mlp(stored_.norms, rules_, projected_, entered_);
      if (!has_mlp()) return end_part();
      stage_ = Stage::hidden;
      if (stored_.mixture) start_mixture();
      return;
    case Stage::hidden:
      if (at_input_) apply_input();
      stage_ = Stage::mlp_output;
      return;
    case Stage::mlp_output:
      if (at_input_) {
        at_input_ = false;
        entered_ += stored_.norms.layer_input_norm(projected_);
        end_part();
      } else if (!stored_.mixture || !add_expert()) {
        end_mlp();
      }
  }
}

void LayerRest::mix_passages() {
  const auto& [first, end, columns] = parts_[part_];
  states_.resize(stored_.attention_output.inputs(), columns);
  const MatrixXf none;  // what heads of a layer before have read may still be there
  const bool has_heads = model_.has_heads(layer_);
  Index column = 0;
  for (std::size_t k = first; k < end; ++k) {
    const Index length = tokens_[k].cols();
    running_.add([this, column, length, &read = has_heads ? read_[k] : none] {
      states_.middleCols(column, length) =
          (*stored_.mixer)(hidden_.middleCols(column, length), read);
      return length;
    });
    column += length;
  }
  running_.finish();
  running_.take();
}

void LayerRest::start_mixture() {
  const Router& router = stored_.mixture->router;
  const Norm& input_norm = stored_.mixture->input_norm;
  all_states_ = std::move(states_);
  routed_ = route(router, router.input_norm.is_none() ? all_states_ : router.input_norm(entered_));
  const Linear& latent = stored_.mixture->latent_input;
  const bool has_latent = latent.weight.size() > 0;
  if (has_latent || !input_norm.is_none()) {
    shared_states_ = all_states_;
    if (!input_norm.is_none()) all_states_ = input_norm(entered_);
    if (has_latent) all_states_ = latent(all_states_);
  }
  mixed_.setZero(all_states_.rows(), all_states_.cols());
  expert_ = -1;
  next_expert();  // each token has one
}

bool LayerRest::next_expert() {
  while (++expert_ < routed_.rows()) {
    columns_of_expert_ = tokens_of_expert(routed_, expert_);
    if (columns_of_expert_.empty()) continue;
    const bool apart = is_shared() && shared_states_.size() > 0;
    states_ = (apart ? shared_states_ : all_states_)(Eigen::all, columns_of_expert_);
    if (scales_input()) {
      const Eigen::RowVectorXf weights = routed_(expert_, columns_of_expert_);
      states_.array().rowwise() *= weights.array();
    }
    stage_ = Stage::hidden;
    return true;
  }
  return false;
}

bool LayerRest::add_expert() {
  if (is_shared()) {
    const Linear& latent = stored_.mixture->latent_output;
    if (latent.weight.size() > 0) mixed_ = latent(mixed_);
    mixed_ = stored_.mixture->output_norm(std::move(mixed_));
    projected_ = stored_.mixture->shared_output_norm(std::move(projected_));
  }
  for (std::size_t k = 0; k < columns_of_expert_.size(); ++k) {
    const Index column = columns_of_expert_[k];
    const float weight = scales_input() ? 1 : routed_(expert_, column);
    mixed_.col(column) += weight * projected_.col(static_cast<Index>(k));
  }
  if (next_expert()) return true;
  projected_.swap(mixed_);
  return false;
}

void LayerRest::end_mlp() {
  leave_mlp(stored_.norms, projected_, entered_);
  if (!stored_.layer_input) return end_part();
  at_input_ = true;
  states_ = entered_;
  stage_ = Stage::hidden;
}

void LayerRest::apply_input() {
  const auto& [first, end, columns] = parts_[part_];
  Index column = 0;
  for (std::size_t k = first; k < end; ++k) {
    const Index length = tokens_[k].cols();
    running_.add([this, k, column, length] {
      const MatrixXf input = memory_[k].input(model_, layer_, *stored_.layer_input);
      float* const hidden = &hidden_(0, column);
      for (Index i = 0; i < input.size(); ++i) hidden[i] *= input.data()[i];
      return length;
    });
    column += length;
  }
  running_.finish();
  running_.take();
}

void LayerRest::end_part() {
  entered_ *= stored_.norms.layer_scale;
  check_tokens(entered_, layer_);
  Index column = 0;
  for (std::size_t k = parts_[part_].first; k < parts_[part_].end; ++k) {
    tokens_[k] = entered_.middleCols(column, tokens_[k].cols());
    column += tokens_[k].cols();
  }
  if (++part_ < parts_.size()) return begin_part();
  // Nothing is kept while other passes run.
  blocks_.clear();
  for (MatrixXf* const matrix : {&entered_, &states_, &hidden_, &projected_, &all_states_, &routed_,
                                 &mixed_, &shared_states_}) {
    *matrix = MatrixXf();
  }
}

void check_tokens(const MatrixXf& tokens, int layer) {
  if (all_finite(tokens)) return;
  throw FormatError("layer " + std::to_string(layer),
                    "its tokens exceed the range of single precision");
}

}  // namespace eigenscope
