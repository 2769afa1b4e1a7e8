"""The C files as other builds: fewer planes, sanitizers, all warnings; and the choice of the kernel when importing."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TESTS = Path(__file__).parent
CARVERS = [f"bands/{name}" for name in ("_carvers", "_dfs", "_prim", "_wilson", "_random_walk")]
EXTENSIONS = {
    "_kernel": ["_kernel"],
    "_verify": ["_verify", "_spans"],
    "_solve": ["_solve"],
    "bands/_carvers": CARVERS,
    "uniform/_uniform": ["uniform/_uniform"],
}
SSE = ["-msse2", "-mfpmath=sse"]  # doubles of 64 bits on 32-bit x86, as setup.py has it
C_FILES = [source for sources in EXTENSIONS.values() for source in sources]
SANITIZERS = ("-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
KERNEL_TESTS = (
    "tests/test_step.py",
    "tests/test_lanes.py",
    "-k",
    "(both_backends or harm_nothing or buffers or side_by_side) and not python",
)


@pytest.fixture(scope="module")
def compiler(request):
    """The C compiler; without one only those who said --without-c get on."""
    found = next(filter(None, map(shutil.which, [os.environ.get("CC", "cc"), "gcc", "clang"])), None)
    if found is None:
        if request.config.getoption("--without-c"):
            pytest.skip("there is no C compiler, and --without-c was given")
        pytest.fail("there is no C compiler; --without-c leaves these tests out")
    return found


def run(*command, cwd=None, **environment):
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("ELLER_STREAM", "PYTHON", "COV_"))
    }
    return subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=clean | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def compile_c(compiler, names, target, flags):
    command = [
        compiler,
        "-std=c11",
        "-fPIC",
        "-DPy_LIMITED_API=0x030B0000",
        *flags,
        f"-I{sysconfig.get_paths()['include']}",
    ]
    if sys.platform == "darwin":
        command += ["-undefined", "dynamic_lookup"]
    made = run(*command, *(ROOT / "eller_stream" / f"{name}.c" for name in names), "-o", target)
    assert made.returncode == 0, made.stderr
    return made.stderr


def copied(folder, *, tests=False):
    """Put the package as it is without its C files, and perhaps the tests, into a folder of its own."""
    shutil.copytree(
        ROOT / "eller_stream",
        folder / "eller_stream",
        ignore=shutil.ignore_patterns("*.so", "*.pyd", "*.c", "__pycache__"),
    )
    if tests:
        shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "docs" / "vectors", folder / "docs" / "vectors")
        shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def built(compiler, folder, flags):
    copied(folder, tests=True)
    for name, sources in EXTENSIONS.items():
        compile_c(compiler, sources, folder / "eller_stream" / f"{name}.abi3.so", ["-shared", *flags])
    return folder


def passes(folder, *arguments, **environment):
    """Run pytest in a folder on the package that was built there."""
    where = run(
        sys.executable,
        "-c",
        "import eller_stream._kernel as k, eller_stream._verify; print(k.__file__)",
        cwd=folder,
        **environment,
    )
    assert where.returncode == 0, where.stderr
    assert Path(where.stdout.strip()).parent == folder.resolve() / "eller_stream"
    done = run(
        sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments, cwd=folder, **environment
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"[-6000:]
    assert " passed" in done.stdout


@pytest.mark.parametrize("planes", [1, 2])
def test_fewer_planes_give_the_same_rows(compiler, tmp_path, planes):
    """Natural rows go the deep path then."""
    passes(built(compiler, tmp_path, ["-O2", f"-DPLANES={planes}"]), *KERNEL_TESTS)


def test_the_sanitizers_find_nothing(compiler, tmp_path):
    """The kernels against their Python twins, with memory and arithmetic watched."""
    library = run(compiler, "-print-file-name=libasan.so").stdout.strip()
    watched = {
        "LD_PRELOAD": library,
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    }
    folder = built(compiler, tmp_path, SANITIZERS)
    passes(folder, *KERNEL_TESTS, **watched)
    for file in ("test_verify", "test_solve", "test_measure"):
        passes(folder, f"tests/{file}.py", "-k", "(both_backends or fit or edges) and not python", **watched)
    passes(folder, "tests/test_band_algorithms.py", "-k", "carvers_in_c", **watched)
    passes(folder, "tests/test_uniform_vectors.py", **watched)


def test_the_thread_sanitizer_finds_nothing(compiler, tmp_path):
    """Streams on threads of their own, in one process."""
    library = run(compiler, "-print-file-name=libtsan.so").stdout.strip()
    watched = {"LD_PRELOAD": library, "TSAN_OPTIONS": "halt_on_error=1:exitcode=66"}
    folder = built(compiler, tmp_path, ["-O1", "-g", "-fsanitize=thread"])
    passes(folder, "tests/test_lanes.py", "-k", "threads", **watched)


@pytest.mark.parametrize("name", C_FILES)
@pytest.mark.parametrize("flags", [["-O3"], ["-O0"], ["-O2", "-DPLANES=1"], ["-O2", "-DPLANES=4"]], ids=" ".join)
def test_there_are_no_warnings(compiler, tmp_path, name, flags):
    said = compile_c(compiler, [name], tmp_path / "out.o", ["-c", "-Wall", "-Wextra", "-Werror", *flags])
    assert not said


@pytest.fixture(scope="module")
def clang():
    found = shutil.which("clang")
    if found is None:
        pytest.skip("there is no clang: apt-get install clang")
    return found


@pytest.mark.parametrize("name", C_FILES)
def test_clang_has_no_warnings(clang, tmp_path, name):
    assert not compile_c(clang, [name], tmp_path / "out.o", ["-c", "-O3", "-Wall", "-Wextra", "-Werror"])


def test_clang_gives_the_same_rows(clang, tmp_path):
    passes(built(clang, tmp_path, ["-O3"]), *KERNEL_TESTS)


def sizes_of_32_bits(folder):
    """Return the flags that correct this Python's pyconfig.h to the sizes of a 32-bit machine."""
    lines = ["#include <pyconfig.h>", "#undef HAVE_GCC_UINT128_T"]
    for name in (
        "SIZEOF_LONG",
        "SIZEOF_VOID_P",
        "SIZEOF_SIZE_T",
        "SIZEOF_PTHREAD_T",
        "SIZEOF_UINTPTR_T",
        "ALIGNOF_LONG",
    ):
        lines += [f"#undef {name}", f"#define {name} 4"]
    (folder / "sizes.h").write_text("\n".join([*lines, ""]))
    return "-include", folder / "sizes.h"


@pytest.mark.parametrize("name", C_FILES)
@pytest.mark.parametrize("flags", [["-O3"], ["-O2", "-DPLANES=4"]], ids=" ".join)
def test_there_are_no_warnings_on_32_bits(compiler, tmp_path, name, flags):
    """.ci/machines runs what is built so, in a Python of 32 bits."""
    (tmp_path / "libc.c").write_text("#define _GNU_SOURCE\n#include <sys/stat.h>\n")
    if run(compiler, "-m32", "-c", tmp_path / "libc.c", "-o", tmp_path / "libc.o").returncode:
        pytest.skip("there are no headers of a 32-bit C library: apt-get install gcc-multilib")
    warned = [*sizes_of_32_bits(tmp_path), "-m32", *SSE, "-c", "-Wall", "-Wextra", "-Werror", *flags]
    assert not compile_c(compiler, [name], tmp_path / "out.o", warned)


# ---- which kernel runs --------------------------------------------------------------------------------

TELL = "import sys, eller_stream.kernel as k; print(k.BACKEND, 'eller_stream._kernel' in sys.modules)"


def told(folder, *flags, **environment):
    done = run(sys.executable, *flags, "-c", TELL, cwd=folder, **environment)
    return done.stdout.split() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def test_the_kernel_asked_for_is_the_one_that_runs(request):
    assert told(TESTS, ELLER_STREAM_KERNEL="python") == ["python", "False"]
    if not request.config.getoption("--without-c"):
        for asked in ({"ELLER_STREAM_KERNEL": "c"}, {"ELLER_STREAM_KERNEL": ""}, {}):
            assert told(TESTS, **asked) == ["c", "True"]


@pytest.mark.parametrize("asked", ["nonsense", "C", "Python", "_step", " c"])
def test_a_kernel_that_does_not_exist(asked):
    assert (
        told(TESTS, ELLER_STREAM_KERNEL=asked)
        == f"eller_stream.errors.KernelError: ELLER_STREAM_KERNEL is c or python, not {asked!r}"
    )


def test_without_the_extension_the_python_kernel_runs(tmp_path):
    """Without the site packages (-S), where an editable install would offer its own extension."""
    copied(tmp_path)
    assert told(tmp_path, "-S") == ["python", "False"]
    assert told(tmp_path, "-S", ELLER_STREAM_KERNEL="python") == ["python", "False"]
    said = told(tmp_path, "-S", ELLER_STREAM_KERNEL="c")
    assert said.startswith("eller_stream.errors.KernelError: the C kernel is not there")


def test_an_extension_that_cannot_be_loaded_is_told(tmp_path):
    copied(tmp_path)
    (tmp_path / "eller_stream" / "_kernel.abi3.so").write_bytes(b"no library")
    assert told(tmp_path, "-S") == ["python", "False"]
    assert told(tmp_path, "-S", ELLER_STREAM_KERNEL="c").startswith(
        "eller_stream.errors.KernelError: the C kernel is not there"
    )


def test_kernel_errors_are_import_errors():
    from eller_stream.errors import EllerStreamError, KernelError
    from eller_stream.kernel import carver

    assert issubclass(KernelError, ImportError)
    assert issubclass(KernelError, EllerStreamError)
    for backend in ("fortran", "", "C", None):
        with pytest.raises(KernelError, match="is c or python, not"):
            carver(backend)


def test_the_rows_do_not_depend_on_how_python_runs(tmp_path):
    """Neither on the hash seed nor on optimisation, nor on the backend."""
    script = """
import hashlib
from eller_stream.stream import EllerStream
block = EllerStream(333, seed=5, loops=0.1, braid=0.3, key_interval=64).read(300)
print(hashlib.sha256(block.east.tobytes() + block.south.tobytes()).hexdigest())
"""
    runs = [
        ({}, []),
        ({"PYTHONHASHSEED": "1"}, ["-O"]),
        ({"PYTHONHASHSEED": "2", "ELLER_STREAM_KERNEL": "python"}, ["-OO"]),
    ]
    said = {run(sys.executable, *flags, "-c", script, cwd=TESTS, **environment).stdout for environment, flags in runs}
    assert len(said) == 1
    assert len(said.pop().strip()) == 64
