// How a model scales its logits, where that is not by 1/sqrt(d_h).
#pragma once

#include <Eigen/Core>

#include "checkpoint/config_keys.h"

namespace eigenscope {

/// The model's own scale of x_q^T W x_k over 1/sqrt(d_h), above 0; where the config names none, that of the
/// family. In families that read such a key, the config names the scale itself ("attention_multiplier", as Granite
/// does) or the number that takes the place of d_h in it ("query_pre_attn_scalar", as Gemma 2 and 3 do). Throws FormatError
/// naming the key for a value that is not a number from 1e-6 to 1e6, or a term of the logits that is not known.
double logit_scale(const ConfigKeys& keys, const Family& family, Eigen::Index head_width);

}  // namespace eigenscope
