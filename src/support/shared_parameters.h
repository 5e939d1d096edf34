// Numeric parameters of more than one room or operation. One that a single room uses is a constant of that room.
#pragma once

#include "support/parameter.h"

namespace eigenscope::shared {

inline constexpr double kLargestSeed =
    9007199254740991.0;  // 2^53 - 1: exact in JavaScript's numbers too

inline constexpr Parameter kMean{"mean", reals(-1e6, 1e6), 0.25,
                                 "mean of the eigenspectrum, tr(W)/d"};
inline constexpr Parameter kVariance{
    "variance", reals(0, 1e12), 0.1,
    "variance of the eigenspectrum; for ensembles that are not symmetric the Frobenius variance"};
inline constexpr Parameter kEigenvalue{"eigenvalue", reals(-1e6, 1e6), 0,
                                       "eigenvalue of an explicit list"};
inline constexpr Parameter kWidth{"width", integers(2, 4096), 64, "model width d"};
inline constexpr Parameter kHeadWidth{
    "head_width", integers(1, 4096), 32,
    "head width d_h, the rank of the factored ensemble; at most the width"};
inline constexpr Parameter kLength{"length", integers(2, 2048), 48, "sequence length T in tokens"};
inline constexpr Parameter kTemperature{"temperature", reals(1e-6, 1e6), 8,
                                        "softmax temperature lambda, sqrt(d_h) in practice"};
inline constexpr Parameter kCorrelation{"correlation", reals_below(0, 1), 0.9,
                                        "correlation a of neighbouring AR(1) tokens"};
inline constexpr Parameter kSeed{"seed", integers(0, kLargestSeed), 1, "seed of every random draw"};
inline constexpr Parameter kSamples{"samples", integers(2, 1e8), 2000,
                                    "number of sampled sequences"};
inline constexpr Parameter kXi{"xi", reals(-1e30, 1e30), 16,
                               "tr(W Sigma), the width times the mean eigenvalue"};
inline constexpr Parameter kEtaS{"eta_s", reals(-1e60, 1e60), 10.4, "tr((W Sigma)^2)"};
inline constexpr Parameter kEtaF{"eta_f", reals(0, 1e60), 10.4,
                                 "tr(W Sigma W^T Sigma), at least |eta_S|"};
inline constexpr Parameter kHeads{"heads", integers(1, 4096), 1,
                                  "attention heads per layer; must divide the width"};
inline constexpr Parameter kOffset{"offset", integers(0, 1000000), 0,
                                   "query minus key position, for rotary positions"};
inline constexpr Parameter kDepth{"depth", integers(0, 512), 12, "number of layers"};
inline constexpr Parameter kMlpRatio{
    "mlp_ratio", reals(0, 16), 0,
    "hidden width of the MLP over the model width; 0 removes the MLP"};
inline constexpr Parameter kWindow{"window", integers(1, 2048), 8,
                                   "visible keys of a query with the window mask"};
inline constexpr Parameter kBlocks{
    "blocks", integers(1, 256), 4,
    "parallel blocks of the blocks mask; all keys are visible to the last block"};
inline constexpr Parameter kPrefix{"prefix", integers(0, 2048), 0,
                                   "first tokens, visible to every block of the blocks mask"};
inline constexpr Parameter kSelected{
    "selected", integers(0, 256), 256,
    "earlier blocks visible to a query of the last block: those with its largest attention"};
inline constexpr Parameter kKeyHeads{
    "key_heads", integers(0, 4096), 0,
    "key and value heads, shared by groups of query heads; 0 means as many as query heads"};
inline constexpr Parameter kSteps{"steps", integers(0, 1e7), 1000, "training steps"};
inline constexpr Parameter kMinCount{
    "min_count", integers(1, 1e9), 3,
    "minimum word count in the training text; rarer words become <unk>"};
inline constexpr Parameter kPassages{"passages", integers(1, 10000), 12, "number of passages"};
inline constexpr Parameter kQueries{"queries", integers(2, 1000000), 1000,
                                    "attention rows drawn per prediction of a head"};

}  // namespace eigenscope::shared
