// Files that are whole or not there.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace eigenscope {

/// Writes to `path + ".new-" + the number of this process`, onto the disk, and renames that: whoever looks
/// finds the old file or the new one, whenever this process ends and whoever else writes the same. Throws
/// FormatError naming the path and the reason (a full disk); then the old file stays.
void replace_file(const std::string& path, std::span<const std::byte> bytes);
void replace_file(const std::string& path, const std::string& text);

}  // namespace eigenscope
