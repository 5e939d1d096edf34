"""Statistics of the experiments' tables, on arrays of numbers. NaN stands for what is not defined."""
import math

import numpy as np


def mean(values):
    """NaN for no value."""
    return float(np.mean(values)) if len(values) else math.nan


def deviation(values):
    """Standard deviation with n - 1; NaN for fewer than two values."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan


def incomplete_beta(a, b, x):
    """Regularized, by Lentz's continued fraction (Press et al., Numerical Recipes, 6.4)."""
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    if x == 0:
        return 0.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log_front + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction


def student_two_sided(t, freedom):
    """Probability of a value of Student's t at least as far from 0."""
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def t_test(values):
    """(mean, two-sided p of a mean of 0); p is NaN where the values are all alike or only one."""
    center, spread, n = mean(values), deviation(values), len(values)
    if not spread > 0:
        return center, math.nan
    return center, student_two_sided(center / (spread / math.sqrt(n)), n - 1)


def student_quantile(freedom):
    """The t that a value of Student's law exceeds in size with probability 0.05."""
    low, high = 0.0, 1e3
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if student_two_sided(middle, freedom) > 0.05 else (low, middle)
    return low


def interval(values):
    """95% interval of the mean by Student's t, `low` and `high`; NaN for fewer than two values."""
    n = len(values)
    half = student_quantile(n - 1) * deviation(values) / math.sqrt(n) if n > 1 else math.nan
    return {"low": mean(values) - half, "high": mean(values) + half}


def holm(ps):
    """The p values of a family of tests corrected by Holm (1979), in their order: such that rejecting those below a
    level keeps the probability of any false rejection below it. A test without p counts as one that rejects nothing."""
    known = np.where(np.isnan(np.asarray(ps, float)), 1.0, np.asarray(ps, float))
    order = np.argsort(known, kind="stable")
    factors = len(known) - np.arange(len(known))
    corrected = np.empty(len(known))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(factors * known[order]))
    return [float(p) if not math.isnan(own) else math.nan for p, own in zip(corrected, ps)]


def mcnemar(only_first, only_second):
    """Exact two-sided p of equal shares in pairs, from the pairs of which only one is a success: twice the smaller
    tail of the binomial law with 1/2."""
    n, least = only_first + only_second, min(only_first, only_second)
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(least + 1)) / 2**n)


def newcombe(both, only_first, only_second, pairs):
    """95% interval of the difference of shares in pairs (Newcombe, 1998, method 10): Wilson's intervals of the two,
    joined with the correlation of the outcomes."""
    neither = pairs - both - only_first - only_second
    shares = (both + only_first) / pairs, (both + only_second) / pairs
    ends = wilson(both + only_first, pairs), wilson(both + only_second, pairs)
    margins = (both + only_first, only_second + neither, both + only_second, only_first + neither)
    cross = both * neither - only_first * only_second
    if cross > 0:
        cross = max(cross - pairs / 2, 0)
    correlation = cross / math.sqrt(math.prod(margins)) if all(margins) else 0.0
    (below_first, below_second), (above_first, above_second) = (
        [share - end[0] for share, end in zip(shares, ends)],
        [end[1] - share for share, end in zip(shares, ends)],
    )

    def distance(a, b):
        return math.sqrt(max(0.0, a * a - 2 * correlation * a * b + b * b))

    difference = shares[0] - shares[1]
    return difference - distance(below_first, above_second), difference + distance(above_first, below_second)


def fisher(first, first_runs, second, second_runs):
    """Exact two-sided p of equal shares of independent runs (Fisher): the probability of all tables of the same
    margins that are no more probable than this one."""
    successes = first + second
    weights = {
        k: math.comb(first_runs, k) * math.comb(second_runs, successes - k)
        for k in range(max(0, successes - second_runs), min(first_runs, successes) + 1)
    }
    return sum(w for w in weights.values() if w <= weights[first]) / sum(weights.values())


def wilson(count, runs):
    """95% interval of a share (Wilson, 1927)."""
    z = 1.959963984540054
    share, scale = count / runs, 1 + z * z / runs
    middle = (share + z * z / (2 * runs)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    return max(0.0, middle - half), min(1.0, middle + half)


def ranks(values):
    """From 1; those of equal values are their mean."""
    _, place, counts = np.unique(np.asarray(values, float), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place]


def rank_correlation(a, b):
    """Spearman's; NaN for fewer than two values or where one side is constant."""
    if len(a) < 2:
        return math.nan
    x, y = (ranks(values) - (len(values) + 1) / 2 for values in (a, b))
    spread = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / spread if spread > 0 else math.nan


def partial_correlation(a, b, given):
    """Spearman's of a and b, without what the ranks of `given` account for linearly."""
    ab, ag, bg = (rank_correlation(*pair) for pair in ((a, b), (a, given), (b, given)))
    left = (1 - ag * ag) * (1 - bg * bg)
    return (ab - ag * bg) / math.sqrt(left) if left > 0 else math.nan


def area_under_curve(low, high):
    """Probability that a draw of `low` is smaller than one of `high`, ties half; NaN when one is empty."""
    if not len(low) or not len(high):
        return math.nan
    a, b = np.asarray(low, float)[:, None], np.asarray(high, float)[None, :]
    return float(np.mean((a < b) + 0.5 * (a == b)))
