// A layer's rotary positions as config.json describes them, with the scalings of models of long contexts.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>

#include "checkpoint/config_keys.h"
#include "checkpoint/family.h"
#include "checkpoint/rotary.h"

namespace eigenscope {

/// No text that is read has as many tokens.
inline constexpr double kBeyondPassages = 8192;

/// The use of positions: heads at an offset that is asked for, or text.
enum class RotaryUse { heads, text };

/// The positions of layer number `layer`, whose heads have width `head_width`. A scaling of the angles
/// ("rope_scaling" or "rope_parameters", its "rope_type" or "type") is one of
///   default, mrope  none (of several axes, as text has them)
///   dynamic         none up to the length of the first training
///   linear          positions over a factor (Chen et al., 2023, arXiv:2306.15595)
///   llama3          slow pairs only, smoothly (Grattafiori et al., 2024, arXiv:2407.21783)
///   yarn            slow pairs only, and a factor of the logits (Peng et al., 2023, arXiv:2309.00071)
///   proportional    the first share of all pairs turns as it does without a share, and the others do not (Gemma 4)
///   longrope, su    each pair by its short factor, or by its long one where `at` needs a text beyond the
///                   length of the first training, and a factor of the logits (Ding et al., 2024,
///                   arXiv:2402.13753)
/// Layers of a sliding window have another base where the config or the family gives one.
/// Throws FormatError naming the key for a value that is missing or out of range, and for a scaling of another type
/// unless `at` turns nothing; of single heads that is an InvalidArgument ("offset").
Rotary rotary_of(const ConfigKeys& keys, const Family& row, RotaryPairs pairs,
                 Eigen::Index head_width, int layer, const RotaryOffset& at,
                 RotaryUse use = RotaryUse::heads);

/// The tokens of a text for which the short factors of longrope hold; nothing for another scaling. Throws as rotary_of
/// does.
std::optional<std::uint64_t> tokens_of_short_factors(const ConfigKeys& keys);

/// The factor of the logits by a scaling of type yarn, beside Rotary::logit_factor, in families where it does
/// (RotaryKeys::scales_logits): (0.1 m ln(factor) + 1)^2 for m = "mscale_all_dim", else 1.
double yarn_logit_scale(const ConfigKeys& keys, const RotaryKeys& family);

}  // namespace eigenscope
