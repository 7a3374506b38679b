"""The stubs say what the extension module has: the same names, and the same parameters."""

import ast
import inspect
from pathlib import Path

import girih
from girih import _girih

STUB = ast.parse((Path(girih.__file__).parent / "_girih.pyi").read_text())
# What every class has.
COMMON = set(dir(object)) | {"__module__", "__weakref__", "__dict__"}


def parameters(function):
    arguments = function.args
    names = [argument.arg for argument in arguments.posonlyargs + arguments.args]
    names += ["*" + arguments.vararg.arg] if arguments.vararg else []
    return names + [argument.arg for argument in arguments.kwonlyargs]


def actual(function):
    star = inspect.Parameter.VAR_POSITIONAL
    return [("*" if p.kind is star else "") + p.name for p in inspect.signature(function).parameters.values()]


def functions(body):
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


def test_functions_and_their_parameters():
    stubs = functions(STUB.body)
    real = {name: value for name, value in vars(_girih).items() if inspect.isbuiltin(value)}
    assert set(stubs) == set(real)
    for name, function in real.items():
        assert parameters(stubs[name]) == actual(function), name
        assert function.__doc__, name


def test_classes_and_their_members():
    stubs = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
    real = {name: value for name, value in vars(_girih).items() if inspect.isclass(value)}
    assert set(stubs) == set(real)
    for name, cls in real.items():
        members = {member for member in vars(cls) if member not in COMMON}
        if issubclass(cls, Exception):
            continue  # Their fields are set on values; test_errors looks at them.
        declared = functions(stubs[name].body)
        assert members <= set(declared) | {"__getattr__", "__dir__", "__traverse__"}, name
        if cls is not _girih.Report:
            # Iteration is by `__getitem__`.
            assert all(hasattr(cls, member) for member in declared if member != "__iter__"), name
        for member, function in declared.items():
            if member in vars(cls) and inspect.isroutine(vars(cls)[member]) and not member.startswith("__"):
                assert parameters(function) == actual(getattr(cls, member)), f"{name}.{member}"


def test_the_counts_of_a_report():
    stub = next(node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name == "Report")
    report = girih.sim.judge(".version 8.0 .target sm_90 .address_size 64 .visible .entry k() { ret; }", "k", 2, 32).report
    assert set(functions(stub.body)) - {"_of"} == set(dir(report))
    assert (report.blocks, report.instructions, report.global_) == (2, 2, 0) and "2 blocks" in repr(report)


def test_the_options_of_run_are_those_of_judge():
    parameters = inspect.signature(girih.sim.judge).parameters.values()
    assert list(girih.sim.OPTIONS) == [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]


def test_what_the_package_exports_exists():
    assert girih.__all__ == sorted(girih.__all__)
    of_module = {name for name, value in vars(girih).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert of_module - {"TYPE_CHECKING"} <= set(girih.__all__)
    assert all(getattr(girih, name) is not None for name in girih.__all__)
    assert {name for name in functions(STUB.body) if not name.startswith("_")} <= set(girih.__all__)
