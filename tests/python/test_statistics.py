import json
import pathlib
import unittest
from collections import Counter

import numpy

from icobench.statistics import FEWEST, compare
from synthetic import noise

THRESHOLD = 0.02


def independent(random, count):
    return numpy.exp(0.02 * random.standard_normal(count))


def heavy_tailed(random, count):
    return 1 + 0.01 * random.lognormal(0, 1.5, count)


def two_modes(random, count):
    """5 % apart; the device stays in one for a while."""
    slow, values = random.random() < 0.3, numpy.exp(0.003 * random.standard_normal(count))
    for n in range(count):
        slow = random.random() < 0.3 if random.random() < 0.3 else slow
        values[n] *= 1.05 if slow else 1
    return values


def warming_up(random, count):
    drift = 0.02 * random.standard_normal() * numpy.linspace(0, 1, count)
    return numpy.exp(drift + 0.005 * random.standard_normal(count))


def differing_runs(random, count):
    """Bursts, and an offset that differs from run to run."""
    return noise(random, count) * numpy.exp(0.005 * random.standard_normal())


def correlated(random, count):
    values = numpy.zeros(count)
    for n in range(1, count):
        values[n] = 0.7 * values[n - 1] + 0.01 * random.standard_normal()
    return numpy.exp(values)


REALISTIC = (independent, heavy_tailed, two_modes, warming_up, differing_runs, correlated)


class Statistics(unittest.TestCase):
    def test_two_runs_of_one_program_raise_few_alarms(self):
        random, alarms = numpy.random.default_rng(7), 0
        for distribution in REALISTIC:
            for count in (21, 60):
                verdicts = Counter(compare(distribution(random, count), distribution(random, count),
                                           THRESHOLD).verdict for _ in range(40))
                here = verdicts["slower"] + verdicts["faster"]
                self.assertLessEqual(here, 4, (distribution.__name__, count, verdicts))
                alarms += here
        self.assertLess(alarms, 0.02 * 40 * 2 * len(REALISTIC))

    def test_quiet_runs_are_the_same(self):
        random = numpy.random.default_rng(1)
        for _ in range(40):
            self.assertEqual(compare(noise(random), noise(random), THRESHOLD).verdict, "same")

    def test_five_per_cent_are_found(self):
        random = numpy.random.default_rng(2)
        for factor, verdict in ((1.05, "slower"), (1 / 1.05, "faster")):
            for _ in range(20):
                result = compare(noise(random), factor * noise(random), THRESHOLD)
                self.assertEqual(result.verdict, verdict)
                self.assertTrue(result.low < factor < result.high or
                                abs(result.ratio / factor - 1) < 0.01)

    def test_itself_is_the_same_however_noisy(self):
        samples = numpy.random.default_rng(3).lognormal(0, 1, 30)
        result = compare(samples, samples.copy(), THRESHOLD)
        self.assertEqual((result.verdict, result.low, result.high), ("same", 1, 1))

    def test_few_samples_cannot_tell(self):
        few = [1.0 + 1e-4 * n for n in range(FEWEST - 1)]
        self.assertEqual(compare(few, [2 * s for s in few], THRESHOLD).verdict, "can't tell")
        enough = few + [1.0]
        self.assertEqual(compare(enough, [2 * s for s in enough], THRESHOLD).verdict, "slower")

    def test_noise_cannot_tell(self):
        random = numpy.random.default_rng(4)
        result = compare(random.lognormal(0, 0.3, 20), random.lognormal(0, 0.3, 20), THRESHOLD)
        self.assertEqual(result.verdict, "can't tell")

    def test_same_question_same_answer(self):
        random = numpy.random.default_rng(5)
        a, b = noise(random), noise(random)
        self.assertEqual(compare(a, b, THRESHOLD), compare(a, b, THRESHOLD))


if __name__ == "__main__":
    unittest.main()


class Cases(unittest.TestCase):
    def test_verdicts_are_those_of_the_tuner(self):
        path = pathlib.Path(__file__).parents[1] / "data" / "verdicts.json"
        content = json.loads(path.read_text())
        for case in content["cases"]:
            found = compare(case["reference"], case["other"], content["threshold"]).verdict
            self.assertEqual(found == "faster", case["faster"], case["what"])
