#include "contract/result.h"

namespace eigenscope {

void ResultFields::choices(const char* name, const std::vector<std::uint8_t>& values, Choices names,
                           Shape shape, Help meaning) {
  put_array(name, {ArrayView::Element::choice, values.data(), values.size(), shape, names},
            meaning);
}

void ResultFields::visit_array(const char* name, ArrayView::Element element, ArrayView::Data data,
                               Eigen::Index size, Shape shape, Help meaning) {
  put_array(name, {element, data, static_cast<std::size_t>(size), shape}, meaning);
}

}  // namespace eigenscope
