# The suite of FileCheck tests: folders here mirror the folders of the sources.
import os
import platform

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "tilebridge"
# The internal shell gives the same errors on every host, and `RUN: a | b` fails when a does.
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".ttir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py.in"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.tilebridge_test_exec_root

config.available_features.add(platform.machine())

# A variable that one label captured must not leak into the next function's checks.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --dump-input-filter=error"
# Two threads show what one hides, and more would starve the tests that run beside this one.
config.environment["OMP_NUM_THREADS"] = "2"
# Memory that was given back holds something else from then on (glibc), as in scripts/test.sh.
config.environment["MALLOC_PERTURB_"] = "165"

config.substitutions.append(("%python", f"'{config.tilebridge_python}'"))
config.substitutions.append(("%ttir", os.path.join(config.tilebridge_source_dir, "test", "ttir")))
config.substitutions.append(("%source_root", config.tilebridge_source_dir))
config.substitutions.append(("%shlibext", ".so"))

search_dirs = [config.tilebridge_tools_dir, config.llvm_tools_dir]
llvm_config.with_environment("PATH", search_dirs, append_path=True)
llvm_config.add_tool_substitutions(
    [
        ToolSubst(name, unresolved="fatal")
        for name in ["tilebridge-opt", "FileCheck", "not", "mlir-opt", "mlir-tblgen", "split-file"]
    ]
    # Named by its path and not searched for, so that the tests of passes run before it is built;
    # a test that uses it then fails.
    + [
        ToolSubst(name, os.path.join(config.tilebridge_tools_dir, name))
        for name in ["tilebridge", "tilebridge-target"]
    ],
    search_dirs,
)
