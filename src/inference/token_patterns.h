// How much a head attends to the previous token, to earlier occurrences of its token, and to what followed them.
#pragma once

#include <Eigen/Core>
#include <span>

namespace eigenscope {

/// Means over the queries of all passages that have such a key, in [0, 1]; NaN where there is no such query.
struct PatternScores {
  /// Weight of the previous token: the score of previous-token heads (Olsson et al., 2022, arXiv:2209.11895).
  double previous_token = 0;
  /// Weights of all earlier tokens with the query's id: that of duplicate-token heads (Wang et al., 2022,
  /// arXiv:2211.00593).
  double duplicate_token = 0;
  /// Weight of the key that follows the latest earlier token with the query's id: that of induction heads (Olsson et
  /// al., 2022).
  double induction = 0;
};

/// Collects the passages of one head.
class PatternMeter {
 public:
  /// Adds a passage: `weights` T x T (row = key, column = query), and the ids of its T tokens.
  void add(const Eigen::MatrixXf& weights, std::span<const int> ids);
  /// Adds the passages of another.
  PatternMeter& operator+=(const PatternMeter& other);
  PatternScores scores() const;

 private:
  struct Mean {
    double sum = 0, queries = 0;

    void add(double weight);
    Mean& operator+=(const Mean& other);
    double value() const { return sum / queries; }
  };
  Mean previous_, duplicate_, induction_;
};

}  // namespace eigenscope
