"""What all tests share: the two backends, and how much hypothesis tries."""

import os

import pytest
from hypothesis import HealthCheck, settings

os.environ["PYTHONSAFEPATH"] = "1"  # what the tests start runs the installed package, not the folder it stands in

settings.register_profile(
    "default",
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],  # so is an emulated machine
)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_addoption(parser):
    parser.addoption("--without-c", action="store_true", help="leave the C backend out (it was not built)")
    parser.addoption("--without-dask", action="store_true", help="leave Dask out (the extra dask is not installed)")
    parser.addoption("--without-browser", action="store_true", help="leave the page out (no node, no chromium)")
    parser.addoption("--without-micropython", action="store_true", help="leave MicroPython out (no node, no npm)")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--without-browser"):
        left_out = pytest.mark.skip(reason="the page is left out (--without-browser)")
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(left_out)


def pytest_ignore_collect(collection_path, config):
    """Leave out what needs Dask, where that is asked for."""
    return True if config.getoption("--without-dask") and collection_path.name == "test_scale.py" else None


def pytest_generate_tests(metafunc):
    if "backend" in metafunc.fixturenames:
        backends = ["python"] if metafunc.config.getoption("--without-c") else ["c", "python"]
        metafunc.parametrize("backend", backends, indirect=True)


@pytest.fixture
def backend(request, monkeypatch):
    """The test runs once on the C backend and once on the Python one."""
    from eller_stream import kernel, spans, verify
    from eller_stream.solve import steps

    monkeypatch.setattr(kernel, "BACKEND", request.param)
    monkeypatch.setattr(kernel, "carve", kernel.carver(request.param))
    monkeypatch.setattr(verify, "check_rows", verify.row_checker(request.param))
    monkeypatch.setattr(spans, "sweep_rows", spans.row_sweeper(request.param))
    monkeypatch.setattr(steps, "chosen", steps.steps(request.param))
    return request.param
