// Numeric settings of training alone: range, default and meaning. Settings that other operations have too are rows of
// the shared table (support/shared_parameters.h).
#pragma once

namespace eigenscope::training {

inline constexpr Parameter kBatch{"batch", integers(1, 4096), 8, "sequences per training step"};
inline constexpr Parameter kLearningRate{"learning_rate", reals(0, 1e9), 0.003,
                                         "peak learning rate"};
inline constexpr Parameter kFinalRate{"final_rate", reals(0, 1), 0.1,
                                      "final learning rate over the peak"};
inline constexpr Parameter kWarmup{"warmup", integers(0, 1e7), 50,
                                   "warm-up steps of the learning rate from 0"};
inline constexpr Parameter kWeightDecay{"weight_decay", reals(0, 100), 0.1,
                                        "decoupled weight decay of all matrices"};
inline constexpr Parameter kBeta1{"beta1", reals_below(0, 1), 0.9,
                                  "AdamW beta1: decay of the mean gradient"};
inline constexpr Parameter kBeta2{"beta2", reals_below(0, 1), 0.99,
                                  "AdamW beta2: decay of the mean squared gradient"};
inline constexpr Parameter kEpsilon{
    "epsilon", reals(0, 1), 1e-8, "AdamW epsilon: added to the root of the mean squared gradient"};
inline constexpr Parameter kClip{"clip", reals(0, 1e6), 1,
                                 "gradient-norm clipping threshold; 0 disables clipping"};
inline constexpr Parameter kQkClip{
    "qk_clip", reals(0, 1e6), 0,
    "QK-Clip: largest scaled logit of a head before W_Q and W_K are scaled down; 0 disables it"};
inline constexpr Parameter kGrowthLimit{
    "growth_limit", reals(0, 1e6), 0,
    "AdamW^2: largest spectral norm of a step over that of its matrix; 0 disables the limit"};
inline constexpr Parameter kDropout{"dropout", reals_below(0, 1), 0,
                                    "dropout rate of embeddings and of attention and MLP outputs"};
inline constexpr Parameter kAttentionTemperature{
    "attention_temperature", reals_above(0, 1e6), 1,
    "temperature of the attention softmax over sqrt(d_h) in training; the stored W_Q and b_Q are "
    "divided by it"};
inline constexpr Parameter kMaskedShare{
    "masked_share", reals_above(0, 1), 0.15,
    "objective masked: share of the tokens of a sequence that are masked and predicted"};
inline constexpr Parameter kBiasRate{"bias_rate", reals(0, 1e6), 10,
                                     "learning rate of relative position biases and of a learned "
                                     "offset mask over that of the other parameters"};
inline constexpr Parameter kDroppedDistance{"dropped_distance", integers(-1, 65535), -1,
                                            "distance between query and key at which attention has "
                                            "no entries, 0 for the diagonal; -1 for none"};
inline constexpr Parameter kEntryPenalty{
    "entry_penalty", reals(0, 1e6), 0.005,
    "learned offset mask: penalty in nats for each entry of an attention row that is kept"};
inline constexpr Parameter kAlpha{"alpha", reals(-1, 1), 0,
                                  "correlated initialization: correlation alpha of W_Q with W_K"};
/// sqrt(d) times the standard deviation of Initialization::normal: 0.02 sqrt(768).
inline constexpr double kNormalInitScale = 0.5542562584220407;
inline constexpr Parameter kInitScale{
    "init_scale", reals(0, 1e3), kNormalInitScale,
    "correlated initialization: scale s, sqrt(d) times the standard deviation of W_Q and W_K"};
inline constexpr Parameter kPatience{
    "patience", integers(0, 1e6), 0,
    "early stopping: evaluations without a new lowest loss; 0 disables it"};
inline constexpr Parameter kMeanWeight{"mean_weight", reals(0, 1e9), 1,
                                       "LocAteR: weight of (tr(W)/d - m*)^2"};
inline constexpr Parameter kScaleWeight{"scale_weight", reals(0, 1e9), 0.001,
                                        "LocAteR: weight of the scale over d"};
inline constexpr Parameter kTarget{
    "target", reals(-1e6, 1e6), 0.125,
    "LocAteR and mimetic initialization: target m* of the mean of the eigenspectrum"};
inline constexpr Parameter kTargetHeads{
    "target_heads", integers(0, 1e4), 0,
    "LocAteR and mimetic initialization: number of heads of each layer on which they act, from the "
    "first; 0 means all"};
inline constexpr Parameter kTargetSteps{
    "target_steps", integers(0, 1e7), 0,
    "LocAteR: number of steps in which it acts, from the first; 0 means all"};
inline constexpr Parameter kQkDecay{
    "qk_decay", reals(0, 1e6), 1,
    "QK decay: decoupled weight decay of W_Q and W_K, in addition to that of all matrices"};
inline constexpr Parameter kPriorWeight{
    "prior_weight", reals(0, 1000), 1,
    "attention prior: weight of KL(prior || attention) in the loss"};
inline constexpr Parameter kPriorDistance{
    "prior_distance", integers(0, 2048), 1,
    "attention prior: distance from the query to the earlier key that has all of its weight; 1 for "
    "the previous token"};
inline constexpr Parameter kFaultStep{"fault_step", integers(0, 1e7), 0,
                                      "injected fault: completed steps before its first one"};
inline constexpr Parameter kFaultSteps{
    "fault_steps", integers(0, 1e7), 0,
    "injected fault: steps that it lasts; 0 for all that follow"};
inline constexpr Parameter kFaultSize{
    "fault_size", reals_above(0, 1e6), 8,
    "injected fault: factor of the learning rate, or of W_Q and W_K and their biases; significant "
    "bits of rounded logits (8 for bfloat16)"};
inline constexpr Parameter kLogEvery{"log_every", integers(1, 1e7), 25,
                                     "steps between rows of the log"};
inline constexpr Parameter kEvalBatches{
    "eval_batches", integers(0, 1e6), 4,
    "validation batches per evaluation; 0 means the whole text"};
inline constexpr Parameter kMeasureBatches{
    "measure_batches", integers(0, 1e6), 1,
    "validation batches over which heads and layers are measured; 0 means all"};

}  // namespace eigenscope::training
