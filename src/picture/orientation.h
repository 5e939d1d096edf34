// How the camera was held, by the EXIF data of a JPEG file (CIPA DC-008, tag 0x0112).
#pragma once

#include <string_view>

#include "picture/picture.h"

namespace eigenscope {

/// The orientation in [1, 8] that the bytes of a JPEG file name; 1, as stored, without one or with damaged data.
int exif_orientation(std::string_view jpeg);

/// The picture upright, of an orientation in [1, 8].
Picture upright(Picture picture, int orientation);

}  // namespace eigenscope
