#include "checkpoint/latent_grams.h"

#include "support/gemm.h"

namespace eigenscope {

using Eigen::MatrixXd;

LatentGrams latent_grams(const MatrixXd& query, const MatrixXd& key) {
  LatentGrams grams{query.rows(), transposed_times(query, query, Entries::upper),
                    transposed_times(key, key), transposed_times(key, query)};
  grams.query.diagonal() /= 2;
  return grams;
}

FactorProducts products_of_latents(const LatentGrams& grams, const MatrixXd& query,
                                   const MatrixXd& key) {
  // A symmetric matrix is the sum of its halved triangle and the transpose of that, which is half the work.
  const MatrixXd half = times(times(query.transpose().eval(), grams.query, Entries::upper), query);
  return {grams.width, transposed_times(key, times(grams.core, query)), half + half.transpose(),
          transposed_times(key, times(grams.key, key))};
}

}  // namespace eigenscope
