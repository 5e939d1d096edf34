#include "inference/token_patterns.h"

namespace eigenscope {

using Eigen::Index;

void PatternMeter::Mean::add(double weight) {
  sum += weight;
  queries += 1;
}

PatternMeter::Mean& PatternMeter::Mean::operator+=(const Mean& other) {
  sum += other.sum;
  queries += other.queries;
  return *this;
}

void PatternMeter::add(const Eigen::MatrixXf& weights, std::span<const int> ids) {
  const auto weight = [&](std::size_t key, std::size_t query) {
    return static_cast<double>(weights(static_cast<Index>(key), static_cast<Index>(query)));
  };
  for (std::size_t query = 1; query < ids.size(); ++query) {
    previous_.add(weight(query - 1, query));
    double duplicate = 0;
    std::size_t after = 0;  // the latest earlier token of the same id, and one; 0 for none
    for (std::size_t key = 0; key < query; ++key) {
      if (ids[key] != ids[query]) continue;
      duplicate += weight(key, query);
      after = key + 1;
    }
    if (after == 0) continue;
    duplicate_.add(duplicate);
    if (after < query) induction_.add(weight(after, query));
  }
}

PatternMeter& PatternMeter::operator+=(const PatternMeter& other) {
  previous_ += other.previous_;
  duplicate_ += other.duplicate_;
  induction_ += other.induction_;
  return *this;
}

PatternScores PatternMeter::scores() const {
  return {previous_.value(), duplicate_.value(), induction_.value()};
}

}  // namespace eigenscope
