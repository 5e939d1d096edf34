// The rest of a layer after its heads, for the tokens of many passages at once.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "inference/passage_memory.h"
#include "inference/transformer.h"
#include "support/in_order.h"

namespace eigenscope {

/// Throws FormatError, naming the layer, for tokens that left the range of single precision in it.
void check_tokens(const Eigen::MatrixXf& tokens, int layer);

/// The rest of a layer after its heads, as finish_layer(): TokenMixer if there is one, output projection, skip
/// connection, norms and MLP, without their weights in memory. A block of outputs is read, then applied to the tokens
/// of all passages. A job that advances in steps; a step applies a block to some hundred tokens, several steps at once
/// where there are several processors. The experts of a mixture are read one after another, each for the tokens that
/// its router chose it for. Where the hidden states of the MLP, or the projected states of the TokenMixer, are more
/// than `most_hidden` numbers, the passages go through in parts, each of which reads the weights again.
class LayerRest {
 public:
  static constexpr Eigen::Index kMostHidden = Eigen::Index{1} << 22;  ///< 16 MiB

  /// By passage: `read` are the outputs of the heads of a layer (H d_v x T), `tokens` (d x T) those that entered it,
  /// which become those after it. All must outlive this object.
  LayerRest(const Transformer& model, const std::vector<PassageMemory>& memory,
            const std::vector<Eigen::MatrixXf>& read, std::vector<Eigen::MatrixXf>& tokens,
            Eigen::Index most_hidden = kMostHidden);

  /// Begins with a layer; only when done(). A layer that text skips is done() at once. Throws as Transformer::rest
  /// does.
  void start(int layer);
  /// Does the next step and returns its multiply-adds; not when done(). Throws FormatError naming the tensor that
  /// cannot be read or has values that are not finite, and the step is then still to be done; or naming the layer
  /// whose tokens left the range of single precision.
  double advance();
  /// Does steps until this share in (0, 1] of the work is done.
  void advance_to(double share) {
    while (!done() && (share >= 1 || progress() < share)) advance();
  }
  /// No layer is begun and not ended.
  bool done() const { return part_ == parts_.size(); }
  /// The share of the layer's multiply-adds that is done, in [0, 1].
  double progress() const { return work_ == 0 ? 1 : work_done_ / work_; }

 private:
  /// mixer_input: the maps of the TokenMixer, of the states. attention_output: W_O, of the outputs of the heads or the
  /// TokenMixer. hidden: act(W_up x), or act(W_gate x) (W_up x), of the states of the MLP. mlp_output: W_down, of the
  /// hidden states. The last two run again for the input of the layer (LayerInputNames).
  enum class Stage { mixer_input, attention_output, hidden, mlp_output };
  /// Passages `first` to end - 1, whose columns are joined.
  struct Part {
    std::size_t first = 0, end = 0;
    Eigen::Index columns = 0;
  };
  struct Block {
    LinearBlock main, gate;
  };

  const StoredLinear& map() const;
  const StoredMlp& mlp() const;
  Eigen::MatrixXf& input() { return stage_ == Stage::mlp_output ? hidden_ : states_; }
  Eigen::MatrixXf& output() {
    return stage_ == Stage::mixer_input || stage_ == Stage::hidden ? hidden_ : projected_;
  }
  Stage first_stage() const;
  bool has_mlp() const { return stored_.mixture || stored_.mlp.down.outputs() > 0; }
  /// Begins with a part; makes the states of the MLP where the layer has neither heads nor a TokenMixer.
  void begin_part();
  /// The outputs of all maps of the stage, whose memory is one matrix.
  Eigen::Index outputs() const;
  bool gated() const;
  void read_block();
  /// A block that no task uses, to be filled.
  std::shared_ptr<Block> free_block();
  void add_task(Eigen::Index count);
  /// Fills the input and makes room for the output of a stage.
  void enter_stage();
  void end_stage();
  /// Replaces the states by the outputs of the TokenMixer, which the output projection reads.
  void mix_passages();
  bool scales_input() const { return stored_.mixture->router.rules.scales_input; }
  /// Whether the expert runs on every token.
  bool is_shared() const { return stored_.mixture->router.shared && expert_ + 1 == routed_.rows(); }
  void start_mixture();
  /// Enters the tokens of the next expert that has some; false after the last one.
  bool next_expert();
  /// Adds the output of this expert to those of the others; false after the last one, with the sum in projected_.
  bool add_expert();
  /// Adds the output of the MLP, and begins with the layer's input or ends the part.
  void end_mlp();
  /// Multiplies the hidden states by the layer's input.
  void apply_input();
  void end_part();

  const Transformer& model_;
  const std::vector<PassageMemory>& memory_;
  const std::vector<Eigen::MatrixXf>& read_;
  std::vector<Eigen::MatrixXf>& tokens_;
  Eigen::Index most_hidden_;
  int layer_ = 0;
  LayerRules rules_;
  StoredRest stored_;
  std::vector<Part> parts_;
  double work_ = 0, work_done_ = 0;

  std::size_t part_ = 0;
  Stage stage_ = Stage::attention_output;
  bool at_input_ = false;               // the maps of the stage are those of the layer's input
  std::size_t input_map_ = 0;           // of the TokenMixer's
  Eigen::Index first_row_ = 0;          // of that map among the outputs of all
  Eigen::Index row_ = 0, column_ = 0;   // of the next step
  std::shared_ptr<const Block> block_;  // from output row_ on; null where it is still to be read
  std::vector<std::shared_ptr<Block>> blocks_;
  // The part's tokens that entered the layer, what the heads read or the states that the MLP reads, its hidden
  // states, and what the output projection or the MLP gives.
  Eigen::MatrixXf entered_, states_, hidden_, projected_;
  // A mixture's states of all tokens, the weights of the experts, and the sum of what they gave; states_ and
  // those after it are then of the tokens of one expert. The shared one's states, where these are others.
  Eigen::MatrixXf all_states_, routed_, mixed_, shared_states_;
  std::vector<Eigen::Index> columns_of_expert_;
  Eigen::Index expert_ = 0;
  InOrder<Eigen::Index> running_;  // last: its tasks use the others
};

}  // namespace eigenscope
