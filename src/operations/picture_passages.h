// Pictures and the checkpoint that reads them, as an input of operations.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "operations/checkpoint_input.h"
#include "picture/picture.h"
#include "text/passages.h"

namespace eigenscope {

class Transformer;

struct PicturesInput {
  std::vector<std::byte> image;  ///< binary PPM files, one after another; empty: no pictures
  File preprocessor;
};
void describe(InputFields& f, PicturesInput& in);

/// Each picture as a passage of the model of pictures that `files` are.
struct PicturePassages {
  std::shared_ptr<const Transformer> model;
  std::vector<Passage> passages;
  std::vector<Picture> pictures;  ///< in the model's size
};

/// Throws FormatError as Transformer and Preprocessor do; InvalidArgument ("image") as read_ppm does.
PicturePassages picture_passages(const CheckpointFiles& files, const PicturesInput& in);

}  // namespace eigenscope
