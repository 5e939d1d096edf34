// Atomic replacement of files.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace eigenscope {

/// Replaces the file at `path` atomically: writes `path + ".new-" + 8 hexadecimal digits`, a name that no other writer
/// has, to the disk and renames it. Readers find the old file or the new one, even if this process ends early or others
/// write the same path. Only a killed process leaves the temporary file, which nobody reads (replaced_name). Throws
/// FormatError naming the path and the reason (a full disk); then the old file stays. A symbolic link is followed; a
/// pipe or a device is written to.
void replace_file(const std::string& path, std::span<const std::byte> bytes);
void replace_file(const std::string& path, const std::string& text);

/// The name of the file that a file of this name was to replace, such as config.json of config.json.new-01234567;
/// empty where it is no file of replace_file.
std::string_view replaced_name(std::string_view name);

/// Makes a folder, and those that it is in, where there is none. Throws FormatError naming it and the reason.
void make_folder(const std::string& path);

}  // namespace eigenscope
