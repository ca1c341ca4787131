"""scripts/check_structure on this tree and on made-up ones."""
import subprocess
import support


class Structure(support.ScriptTest):
    def check(self, files, status):
        for top in ("include", "kernels", "src"):
            (self.folder / top).mkdir(exist_ok=True)
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return self.run_script("check_structure", self.folder, status=status)

    def test_this_tree(self):
        self.run_script("check_structure")

    def test_folders_that_include_each_other(self):
        said = self.check({"src/a/x.hpp": '#include "src/b/y.hpp"\n',
                           "src/b/y.hpp": "#pragma once\n",
                           "src/b/z.cpp": '// #include "src/c/w.hpp"\n#include "src/a/x.hpp"\n'}, 1)
        self.assertIn("src/a and src/b include each other: src/a/x.hpp:1, src/b/z.cpp:2", said)

    def test_what_the_library_must_not_need(self):
        said = self.check({"include/icobench/x.hpp": "#include <icobench/kernels/y.hpp>\n"
                                                     "#include <nlohmann/json.hpp>\n",
                           "kernels/y.hpp": '#include "src/a.hpp"\n'}, 1)
        self.assertIn("include/icobench/x.hpp:2: the library includes nlohmann/json.hpp", said)
        self.assertIn("kernels/y.hpp:1: the library includes src/a.hpp", said)
        self.assertNotIn("each other", said)

    def test_a_folder_that_is_none_of_ours(self):
        self.assertIn("has no include", self.run_script("check_structure", self.folder, status=2))
