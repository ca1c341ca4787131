"""Is one set of run times really different from another? The one rule of this project.

The tuner applies it too (src/measure/statistics.cpp); tests/data/verdicts.json holds both to it.

Samples of a GPU are not independent: they come in bursts, the first of a burst is slow, clocks
drift from burst to burst, and two runs of one program differ by a little whatever their samples
say. So a difference counts only if an interval and a rank test both put it beyond a threshold:
- the interval of the ratio of medians comes from resampling blocks of consecutive samples; it is
  the widest of several block lengths, since long blocks keep bursts and drift together, while
  single samples serve best where samples are independent;
- it also covers what five batches of consecutive samples differ by (Student's interval of the mean
  of their medians' logarithms): batches are taken apart in time, and how much they differ is the
  best guess of how much two runs do;
- the rank test (Mann-Whitney) is done on the medians of the batches, which are nearly independent
  where samples are not: of the 25 pairs at least 24 must be the right way round,
  which happens by chance with a probability of 0.8 %;
- the threshold (2 %) is more than two runs of one program usually differ by. A test against "no
  difference at all" would raise an alarm for any difference once there are samples enough.
"""
from dataclasses import dataclass

import numpy

FEWEST = 9  # samples; with fewer the interval of a median means little
RESAMPLES = 1000
TAIL = 2.5  # per cent on each side of an interval
BATCHES = 5
STUDENT = 2.776  # 97.5 % of its distribution with BATCHES - 1 degrees of freedom
BLOCK_LENGTHS = (lambda n: 1, lambda n: round(n ** 0.5), lambda n: -(-n // 4))


def resampled_medians(samples, length, random):
    """Medians of resamples of blocks of consecutive samples; after the last comes the first."""
    n = len(samples)
    starts = random.integers(0, n, (RESAMPLES, -(-n // length), 1))
    picked = (starts + numpy.arange(length)).reshape(RESAMPLES, -1)[:, :n] % n
    return numpy.median(samples[picked], axis=1, overwrite_input=True)


def batch_medians(samples):
    return numpy.array([numpy.median(batch) for batch in numpy.array_split(samples, BATCHES)])


def batch_variance(samples):
    """Of the mean of the batch medians' logarithms; of too few samples it is not known."""
    if len(samples) < BATCHES:
        return 0.0
    return numpy.var(numpy.log(batch_medians(samples)), ddof=1) / BATCHES


def ratio_interval(reference, other):
    """Ratio of the medians, other over reference, and its interval: ratio, low, high."""
    if numpy.array_equal(reference, other):  # one measurement, compared with itself
        return 1.0, 1.0, 1.0
    ratio = numpy.median(other) / numpy.median(reference)
    random = numpy.random.default_rng(0)  # the same dumps give the same interval
    spread = numpy.exp(STUDENT * (batch_variance(reference) + batch_variance(other)) ** 0.5)
    ends = [ratio, ratio / spread, ratio * spread]
    for length in BLOCK_LENGTHS:
        ratios = (resampled_medians(other, length(len(other)), random) /
                  resampled_medians(reference, length(len(reference)), random))
        ends.extend(numpy.percentile(ratios, [TAIL, 100 - TAIL]))
    return float(ratio), float(min(ends)), float(max(ends))


def ranks_above(more, less):
    pairs = [(a > b) + (a == b) / 2 for a in batch_medians(more) for b in batch_medians(less)]
    return sum(pairs) >= BATCHES ** 2 - 1


@dataclass
class Comparison:
    ratio: float  # of the medians; above 1: the other takes longer than the reference
    low: float
    high: float
    verdict: str  # "faster", "slower", "same" or "can't tell"


def compare(reference, other, threshold):
    """Compares samples [s], both in the order in which they were measured."""
    reference, other = numpy.asarray(reference, float), numpy.asarray(other, float)
    ratio, low, high = ratio_interval(reference, other)
    most = 1 + threshold
    verdict = "can't tell"
    if min(len(reference), len(other)) >= FEWEST:
        if low > most and ranks_above(other, reference * most):
            verdict = "slower"
        elif high < 1 / most and ranks_above(reference, other * most):
            verdict = "faster"
        elif 1 / most <= low and high <= most:
            verdict = "same"
    return Comparison(ratio, low, high, verdict)
