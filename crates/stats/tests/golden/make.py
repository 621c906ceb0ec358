#!/usr/bin/env python3
"""Golden values of the statistics of this room, from SciPy: writes scipy.tsv beside this script.

python3 -m venv v && v/bin/pip install scipy==1.17.1 && v/bin/python make.py

A line is `statistic <tab> input;input;... <tab> output,output,...`; an input is numbers with commas, `-` stands for none.
The inputs are drawn by a fixed linear congruential generator, so that the file comes out the same everywhere. What SciPy has
no function for (Hodges-Lehmann intervals, Holm) is in make.R and r.tsv. What neither has is held by seeded simulation beside the
code: the interval of a correlated series, levels of a series, the knee.
"""
import math
import os
import platform
import numpy
import scipy
from scipy import stats

state = 20261121


def uniform():
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    return (state >> 33) / 2**31


def values(n, ties=False, centre=0.0):
    out = [centre + 10 * (uniform() + uniform() + uniform() - 1.5) for _ in range(n)]
    return [float(round(v)) if ties else round(v, 4) for v in out]


rows = []


def row(name, inputs, outputs):
    text = lambda v: "-" if v is None else repr(float(v))
    rows.append("\t".join([name, ";".join(",".join(text(v) for v in i) for i in inputs), ",".join(text(v) for v in outputs)]))


def exact_signed_rank(d):
    """Two-sided p over all sign patterns, which scipy.stats.wilcoxon gives where there are no ties."""
    d = [v for v in d if v != 0]
    p = stats.permutation_test((numpy.array(d),), lambda x: (stats.rankdata(numpy.abs(x)) * (x > 0)).sum(),
                               permutation_type="samples", n_resamples=numpy.inf).pvalue
    return min(1.0, p)


for n in (6, 7, 10, 13, 25, 60):
    for centre in (0.0, 1.5):
        d = values(n, centre=centre)
        r = stats.wilcoxon(d, method="exact")
        positive = sum(stats.rankdata(numpy.abs(d))[i] for i in range(n) if d[i] > 0)
        row("signed_rank", [d], [positive, r.pvalue])
for n in (6, 8, 10, 12):
    d = values(n, ties=True, centre=1.0)
    kept = [v for v in d if v != 0]
    positive = sum(r for r, v in zip(stats.rankdata(numpy.abs(kept)), kept) if v > 0)
    row("signed_rank", [d], [positive, exact_signed_rank(d)])
for n, m in ((4, 5), (6, 6), (10, 10), (12, 7), (20, 25)):
    for ties in (False, True):
        x, y = values(n, ties), values(m, ties, 1.0)
        if ties and n + m > 14:
            continue
        if ties:
            # Exact by all divisions into two sets, since mannwhitneyu(method="exact") takes no account of ties.
            p = stats.permutation_test((numpy.array(y), numpy.array(x)),
                                       lambda a, b: abs(stats.rankdata(numpy.concatenate([a, b]))[: len(a)].sum()
                                                        - len(a) * (len(a) + len(b) + 1) / 2),
                                       permutation_type="independent", n_resamples=numpy.inf, alternative="greater").pvalue
        else:
            p = stats.mannwhitneyu(x, y, method="exact").pvalue
        shift = numpy.median([b - a for a in x for b in y])
        row("shift", [x, y], [shift, p])
for n in (5, 6, 8, 9, 12, 20, 40):
    x, y = values(n), values(n)
    y = [round(a + 0.7 * b, 4) for a, b in zip(x, y)]
    r = stats.kendalltau(x, y, method="exact")
    row("kendall", [x, y], [r.statistic, r.pvalue])
for n in (5, 6, 7):
    x, y = values(n, True), values(n, True)
    tau = stats.kendalltau(x, y).statistic
    # As far from 0 on either side: with ties in both the distribution is not symmetric, and doubling one tail differs.
    p = stats.permutation_test((numpy.array(y),), lambda b: round(abs(stats.kendalltau(x, b).statistic), 12),
                               permutation_type="pairings", n_resamples=numpy.inf, alternative="greater").pvalue
    row("kendall", [x, y], [tau, p])
for n in (15, 40):
    x, y = values(n, True), values(n, True)
    row("tau_b", [x, y], [stats.kendalltau(x, y).statistic])
for n in (1, 3, 5, 10):
    p = [round(uniform() ** 2, 6) for _ in range(n)]
    row("benjamini_hochberg", [p], list(stats.false_discovery_control(p)))
for level in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1 - 1e-6):
    row("normal_quantile", [[level]], [stats.norm.ppf(0.5 + level / 2)])
    for df in (1, 2, 4.5, 9, 19, 100, 5000):
        row("t_quantile", [[level, df]], [stats.t.ppf(0.5 + level / 2, df)])
for level in (0.9, 0.95, 0.99):
    for count in (1, 2, 3, 8, 16, 100, 5000):
        row("poisson_lower", [[count, level]], [stats.chi2.ppf(1 - level, 2 * count) / 2])
for n in (2, 3, 10, 41):
    v = values(n)
    row("mean", [v], [numpy.mean(v)])
    row("variance", [v], [numpy.var(v, ddof=1)])
    row("median", [v], [numpy.median(v)])
    row("median_absolute_deviation", [v], [stats.median_abs_deviation(v)])
    low, high = stats.t.interval(0.95, n - 1, numpy.mean(v), stats.sem(v))
    row("mean_interval", [v, [0.95]], [numpy.mean(v), low, high])
    w = [round(0.1 + uniform(), 4) for _ in range(n)]
    row("weighted_mean", [v, w], [numpy.average(v, weights=w)])
for n in (3, 8, 30):
    for ties in (False, True):
        x, y = values(n, ties), values(n, ties)
        if len(set(x)) < 2 or len(set(y)) < 2:
            continue
        line = stats.linregress(x, y)
        row("least_squares", [x, y], [line.intercept, line.slope])
        theil = stats.theilslopes(y, x, method="joint")
        row("theil_sen", [x, y], [theil.intercept, theil.slope])
        row("correlation", [x, y], [stats.pearsonr(x, y).statistic])
        row("rank_correlation", [x, y], [stats.spearmanr(x, y).statistic])
for n in (5, 20, 61):
    v = numpy.array(values(n))
    d = v - v.mean()
    row("lag1", [list(v)], [(d[1:] * d[:-1]).sum() / (d * d).sum()])
for n, batches in ((20, 4), (41, 20), (100, 10)):
    v = values(n)
    size = n // batches
    m = numpy.array(v[n - size * batches:]).reshape(batches, size).mean(axis=1)
    low, high = stats.t.interval(0.95, batches - 1, m.mean(), stats.sem(m))
    row("batch_interval", [v, [batches]], [m.mean(), low, high])
for n in (10, 31):
    v = values(n // 2) + values(n - n // 2, centre=20.0)
    u = numpy.abs(2 * numpy.cumsum(stats.rankdata(v)) - numpy.arange(1, n + 1) * (n + 1))
    inside = [t for t in range(2, n - 1)]
    at = max(inside, key=lambda t: u[t - 1])
    row("change_point", [v], [at, numpy.median(v[:at]), numpy.median(v[at:])])
for _ in range(3):
    v = [100 + x for x in values(5)]
    line = stats.linregress(range(5), v)
    row("steadiness", [v], [(max(v) - min(v)) / numpy.mean(v), abs(4 * line.slope / numpy.mean(v))])
for tau, n in ((0.4, 8), (-0.6, 12), (0.0, 30), (0.85, 20)):
    half = stats.norm.ppf(0.975) * math.sqrt(0.437 * (1 + tau * tau / 2) / (n - 4))
    row("kendall_interval", [[tau, n, 0.95]], [math.tanh(math.atanh(tau) - half), math.tanh(math.atanh(tau) + half)])

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "scipy.tsv"), "w") as out:
    out.write(f"# make.py: SciPy {scipy.__version__}, NumPy {numpy.__version__}, Python {platform.python_version()}\n")
    out.write("\n".join(rows) + "\n")
print(len(rows), "values")
