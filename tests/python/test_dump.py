import copy
import json

import support
import synthetic
from icobench import command, dump


def changed(content, path, value):
    """A copy in which what "records/0/name" or the like leads to is replaced, or left out (...)."""
    result = copy.deepcopy(content)
    *way, last = [int(part) if part.isdigit() else part for part in path.split("/")]
    place = result
    for step in way:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return result


class Reading(support.ScriptTest):
    def refuses(self, content, *words):
        path = self.write("bad.json", content)
        with self.assertRaises(command.BadInput) as caught:
            dump.read(path)
        message = str(caught.exception)
        self.assertTrue(message.startswith(path + ": "), message)
        self.assertNotIn("\n", message)
        for word in words:
            self.assertIn(word, message)

    def test_valid_dumps(self):
        name = "nabla4/strided/naive/separate"
        untimed = [synthetic.record(name, None, status=status, reason="why")
                   for status in ("verified", "wrong", "skipped", "failed", "stopped")]
        contents = [synthetic.typical(), synthetic.dump(untimed), synthetic.typical(complete=False),
                    changed(synthetic.typical(), "records/0/machine", None),
                    changed(synthetic.typical(), "context/grid/torus", None)]
        for n, content in enumerate(contents):
            dump.read(self.write(f"{n}.json", content))

    def test_no_dumps(self):
        text = json.dumps(synthetic.typical())
        self.refuses(text[:-100], "not valid JSON")
        self.refuses("", "not valid JSON")
        self.refuses("[]", "not a dump")
        self.refuses("3", "not a dump")
        self.refuses("[" * 100000, "not valid JSON")
        for depth, word in (64, "not a dump"), (65, "nested too deep"), (10 ** 6, "nested too deep"):
            self.refuses("[" * depth + '"]"' + "]" * depth, word)
        nested = {"schema": dump.VERSION, "complete": json.loads("[" * 100 + "]" * 100)}
        self.refuses(nested, "nested too deep")
        self.refuses('"' + "\\\\" * 10 ** 6, "not valid JSON")  # in a moment
        with open(self.folder / "huge.json", "wb") as file:
            file.truncate(2 ** 28 + 1)
        with self.assertRaisesRegex(command.BadInput, "larger than 256 MiB"):
            dump.read(self.folder / "huge.json")
        self.refuses('{"schema": "icobench-dump-1"}', "icobench-dump-1")
        self.refuses(text.replace('"levels": 80', '"levels": NaN', 1), "NaN")
        self.refuses(text.replace('"levels": 80', '"levels": 1e999', 1), "1e999")
        self.refuses(text.replace('"levels": 80', '"levels": 80, "levels": 80', 1), "twice")
        self.refuses(synthetic.dump([]), "no records")
        for path in (self.folder, self.folder / "absent.json"):
            with self.assertRaises(command.BadInput):
                dump.read(path)

    def test_dumps_that_break_the_schema(self):
        good = synthetic.typical()
        for path, value in (
                ("complete", ...), ("more", 1), ("context/levels", 0), ("context/cache", "hot"),
                ("context/date", "today"), ("context/devices/cuda/driver", ...),
                ("records/0/status", "fine"), ("records/0/samples", ...),
                ("records/0/machine", ...), ("records/0/suspect", True),
                ("records/0/samples/3", -1.0), ("records/0/samples/3", "1"),
                ("records/0/status", "verified"), ("records/0/marks", ["odd"]),
                ("records/0/verification", ...), ("records/0/kernels/0/block", [1, 1]),
                ("records/0/seconds/median", None), ("records/0/seconds/median", 1.0),
                ("records/0/seconds/count", 2), ("records/0/machine/power_w", [1, 2])):
            with self.subTest(path=path, value=value):
                self.refuses(changed(good, path, value))

    def test_checking_as_a_command(self):
        good = self.write("good.json", synthetic.typical())
        self.assertIn("valid, 6 records", self.run_script("icobench/dump.py", good))


class Matching(support.ScriptTest):
    def pairs(self, first, second, **options):
        dumps = [dump.read(self.write(f"{n}.json", synthetic.dump(records)))
                 for n, records in enumerate((first, second))]
        pairs, here, there = dump.match(*dumps, **options)
        return [(a["name"], b["name"]) for a, b in pairs], len(here), len(there)

    def test_names_then_launches(self):
        name = "nabla4/strided/naive/separate"
        def timed(*launches, **changes):
            return [synthetic.record(name, [1e-4] * 9, launch, **changes) for launch in launches]
        same = (f"{name}/64", f"{name}/64")
        retuned = (f"{name}/64", f"{name}/128")
        self.assertEqual(self.pairs(timed("64"), timed("64", "128")), ([same], 0, 1))
        self.assertEqual(self.pairs(timed("64"), timed("128")), ([retuned], 0, 0))
        self.assertEqual(self.pairs(timed("64"), timed("128", "256")), ([], 1, 2))
        self.assertEqual(self.pairs(timed("64"), timed("64", backend="hip")), ([same], 0, 0))
        single = timed("128", precision="float")
        self.assertEqual(self.pairs(timed("64"), single), ([], 1, 1))
        self.assertEqual(self.pairs(timed("64"), single, across=True), ([retuned], 0, 0))
