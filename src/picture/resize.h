// Pictures of another size.
#pragma once

#include "picture/picture.h"

namespace eigenscope {

enum class ResizeFilter { bilinear, bicubic };

/// The picture in `width` x `height` pixels, with the bits of Pillow's Image.resize: separable, columns before rows,
/// the filter widened by the factor by which a side shrinks, weights of 22 bits, each pass rounded to 8 bits.
Picture resized(const Picture& picture, Eigen::Index width, Eigen::Index height,
                ResizeFilter filter);

/// Its middle, whose sides are at most those of the picture.
Picture center_cropped(const Picture& picture, Eigen::Index width, Eigen::Index height);

}  // namespace eigenscope
