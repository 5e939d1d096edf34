// Numeric settings of training alone: range, default and meaning. Settings that other operations have too are rows of
// the shared table (support/parameter.h).
#pragma once

#include "support/parameter.h"

namespace eigenscope::training {

inline constexpr Parameter kBatch{.name = "batch",
                                  .symbol = "B",
                                  .minimum = 1,
                                  .maximum = 4096,
                                  .default_value = 8,
                                  .integer = true,
                                  .meaning = "sequences per training step"};
inline constexpr Parameter kLearningRate{.name = "learning_rate",
                                         .symbol = "rate",
                                         .minimum = 0,
                                         .maximum = 1e9,
                                         .default_value = 0.003,
                                         .meaning = "peak learning rate"};
inline constexpr Parameter kFinalRate{.name = "final_rate",
                                      .symbol = "ratio",
                                      .minimum = 0,
                                      .maximum = 1,
                                      .default_value = 0.1,
                                      .meaning = "final learning rate over the peak"};
inline constexpr Parameter kWarmup{.name = "warmup",
                                   .symbol = "steps",
                                   .minimum = 0,
                                   .maximum = 1e7,
                                   .default_value = 50,
                                   .integer = true,
                                   .meaning = "warm-up steps of the learning rate from 0"};
inline constexpr Parameter kWeightDecay{.name = "weight_decay",
                                        .symbol = "decay",
                                        .minimum = 0,
                                        .maximum = 100,
                                        .default_value = 0.1,
                                        .meaning = "decoupled weight decay of all matrices"};
inline constexpr Parameter kBeta1{.name = "beta1",
                                  .symbol = "beta_1",
                                  .minimum = 0,
                                  .maximum = 1,
                                  .default_value = 0.9,
                                  .open_maximum = true,
                                  .meaning = "AdamW beta1: decay of the mean gradient"};
inline constexpr Parameter kBeta2{.name = "beta2",
                                  .symbol = "beta_2",
                                  .minimum = 0,
                                  .maximum = 1,
                                  .default_value = 0.99,
                                  .open_maximum = true,
                                  .meaning = "AdamW beta2: decay of the mean squared gradient"};
inline constexpr Parameter kClip{
    .name = "clip",
    .symbol = "norm",
    .minimum = 0,
    .maximum = 1e6,
    .default_value = 1,
    .meaning = "gradient-norm clipping threshold; 0 disables clipping"};
inline constexpr Parameter kGrowthLimit{
    .name = "growth_limit",
    .symbol = "tau",
    .minimum = 0,
    .maximum = 1e6,
    .default_value = 0,
    .meaning =
        "AdamW^2: largest spectral norm of a step over that of its matrix; 0 "
        "disables the limit"};
inline constexpr Parameter kDropout{
    .name = "dropout",
    .symbol = "p",
    .minimum = 0,
    .maximum = 1,
    .default_value = 0,
    .open_maximum = true,
    .meaning = "dropout rate of embeddings and of attention and MLP outputs"};
inline constexpr Parameter kMaskedShare{
    .name = "masked_share",
    .symbol = "share",
    .minimum = 0,
    .maximum = 1,
    .default_value = 0.15,
    .open_minimum = true,
    .meaning = "objective masked: share of the tokens of a sequence that are masked and predicted"};
inline constexpr Parameter kBiasRate{
    .name = "bias_rate",
    .symbol = "factor",
    .minimum = 0,
    .maximum = 1e6,
    .default_value = 10,
    .meaning =
        "learning rate of relative position biases and of a learned offset mask over "
        "that of the other parameters"};
inline constexpr Parameter kDroppedDistance{
    .name = "dropped_distance",
    .symbol = "k",
    .minimum = -1,
    .maximum = 65535,
    .default_value = -1,
    .integer = true,
    .meaning =
        "distance between query and key at which attention has no entries, 0 for the "
        "diagonal; -1 for none"};
inline constexpr Parameter kEntryPenalty{
    .name = "entry_penalty",
    .symbol = "c",
    .minimum = 0,
    .maximum = 1e6,
    .default_value = 0.005,
    .meaning =
        "learned offset mask: penalty in nats for each entry of an attention row that "
        "is kept"};
inline constexpr Parameter kAlpha{
    .name = "alpha",
    .symbol = "alpha",
    .minimum = -1,
    .maximum = 1,
    .default_value = 0,
    .meaning = "correlated initialization: correlation alpha of W_Q with W_K"};
/// sqrt(d) times the standard deviation of Initialization::normal: 0.02 sqrt(768).
inline constexpr double kNormalInitScale = 0.5542562584220407;
inline constexpr Parameter kInitScale{
    .name = "init_scale",
    .symbol = "s",
    .minimum = 0,
    .maximum = 1e3,
    .default_value = kNormalInitScale,
    .meaning =
        "correlated initialization: scale s, sqrt(d) times the standard deviation "
        "of W_Q and W_K"};
inline constexpr Parameter kPatience{
    .name = "patience",
    .symbol = "n",
    .minimum = 0,
    .maximum = 1e6,
    .default_value = 0,
    .integer = true,
    .meaning = "early stopping: evaluations without a new lowest loss; 0 disables it"};
inline constexpr Parameter kMeanWeight{.name = "mean_weight",
                                       .symbol = "c_mean",
                                       .minimum = 0,
                                       .maximum = 1e9,
                                       .default_value = 1,
                                       .meaning = "LocAteR: weight of (tr(W)/d - m*)^2"};
inline constexpr Parameter kScaleWeight{.name = "scale_weight",
                                        .symbol = "c_scale",
                                        .minimum = 0,
                                        .maximum = 1e9,
                                        .default_value = 0.001,
                                        .meaning = "LocAteR: weight of the scale over d"};
inline constexpr Parameter kTarget{
    .name = "target",
    .symbol = "m*",
    .minimum = -1e6,
    .maximum = 1e6,
    .default_value = 0.125,
    .meaning = "LocAteR and mimetic initialization: target m* of the mean of the eigenspectrum"};
inline constexpr Parameter kTargetHeads{
    .name = "target_heads",
    .symbol = "H*",
    .minimum = 0,
    .maximum = 1e4,
    .default_value = 0,
    .integer = true,
    .meaning =
        "LocAteR and mimetic initialization: number of heads of each layer on which "
        "they act, from the first; 0 means all"};
inline constexpr Parameter kTargetSteps{
    .name = "target_steps",
    .symbol = "n",
    .minimum = 0,
    .maximum = 1e7,
    .default_value = 0,
    .integer = true,
    .meaning = "LocAteR: number of steps in which it acts, from the first; 0 means all"};
inline constexpr Parameter kQkDecay{
    .name = "qk_decay",
    .symbol = "decay",
    .minimum = 0,
    .maximum = 1e6,
    .default_value = 1,
    .meaning =
        "QK decay: decoupled weight decay of W_Q and W_K, in addition to that of all matrices"};
inline constexpr Parameter kPriorDistance{
    .name = "prior_distance",
    .symbol = "k",
    .minimum = 0,
    .maximum = 2048,
    .default_value = 1,
    .integer = true,
    .meaning =
        "attention prior: distance from the query to the earlier key that has all "
        "of its weight; 1 for the previous token"};
inline constexpr Parameter kLogEvery{.name = "log_every",
                                     .symbol = "k",
                                     .minimum = 1,
                                     .maximum = 1e7,
                                     .default_value = 25,
                                     .integer = true,
                                     .meaning = "steps between rows of the log"};
inline constexpr Parameter kEvalBatches{
    .name = "eval_batches",
    .symbol = "n",
    .minimum = 0,
    .maximum = 1e6,
    .default_value = 4,
    .integer = true,
    .meaning = "validation batches per evaluation; 0 means the whole text"};
inline constexpr Parameter kMeasureBatches{
    .name = "measure_batches",
    .symbol = "n",
    .minimum = 0,
    .maximum = 1e6,
    .default_value = 1,
    .integer = true,
    .meaning = "validation batches over which heads and layers are measured; 0 means all"};

}  // namespace eigenscope::training
