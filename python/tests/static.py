"""What can be said of the module and the examples without running them on an older Python.

    python3 python/tests/static.py [FOLDER]

They must be read by Python 3.9, need nothing but the standard library (an example may load its own library where it
sets itself up), and be typed throughout. Prints each fault and ends with 1 where there is one.
"""

import ast
import pathlib
import sys
import typing

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
MODULE = sorted((ROOT / "pilote").glob("*.py"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
OLDEST = (3, 9)

# Names and arguments of the standard library that came after 3.9, as far as a worker could want them.
LATER_NAMES = {
    "typing": {
        "Concatenate", "LiteralString", "Never", "NotRequired", "ParamSpec", "Required", "Self", "TypeAlias",
        "TypeGuard", "TypeVarTuple", "Unpack", "assert_never", "override",
    },
    "itertools": {"pairwise", "batched"},
    "contextlib": {"aclosing", "chdir"},
    "dataclasses": {"KW_ONLY"},
}
LATER_ARGUMENTS = {"zip": {"strict"}, "dataclass": {"slots", "kw_only"}, "int": set()}
LATER_BUILTINS = {"aiter", "anext", "ExceptionGroup", "BaseExceptionGroup", "EncodingWarning"}


def read(path):
    """The tree of a file as Python 3.9 reads it."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=OLDEST)


def imported(tree):
    """Each import, with whether it stands at the top of the file."""
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((name.name.split(".")[0], id(node) in top, node) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield ("pilote" if node.level else node.module.split(".")[0], id(node) in top, node)


def untyped(tree):
    """Functions with an argument or a result that has no type."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            every = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            every += [one for one in (node.args.vararg, node.args.kwarg) if one]
            bare = [one.arg for one in every if one.annotation is None and one.arg not in ("self", "cls")]
            if bare or node.returns is None:
                yield node, ", ".join(bare) or "its result"


def later(tree):
    """What came after 3.9."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for name in node.names:
                if name.name in LATER_NAMES.get(node.module or "", ()):
                    yield node, f"{node.module}.{name.name}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in LATER_NAMES.get(node.value.id, ()):
                yield node, f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            for argument in node.keywords:
                if argument.arg in LATER_ARGUMENTS.get(node.func.id, ()):
                    yield node, f"{node.func.id}({argument.arg}=)"
        elif isinstance(node, ast.Name) and node.id in LATER_BUILTINS:
            yield node, node.id


def evaluated_unions(tree):
    """`X | Y` between types where it is computed: annotations are not, under the future import."""
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for part in ast.walk(node.value):
                if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr):
                    yield node


def faults():
    for path in MODULE + EXAMPLES:
        try:
            tree = read(path)
        except SyntaxError as error:
            yield path, error.lineno, f"Python {OLDEST[0]}.{OLDEST[1]} does not read this: {error.msg}"
            continue
        for name, at_top, node in imported(tree):
            known = name in sys.stdlib_module_names or name == "pilote"
            if not known and (at_top or path in MODULE):
                yield path, node.lineno, f"{name} is not of the standard library"
        for node, what in later(tree):
            yield path, node.lineno, f"{what} came after Python 3.9"
        for node in evaluated_unions(tree):
            yield path, node.lineno, "a union of types is computed, which Python 3.9 cannot"
        if path in MODULE:
            for node, what in untyped(tree):
                yield path, node.lineno, f"{node.name}: {what} has no type"
            names = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
            if path.name != "__init__.py" and not names:
                yield path, 1, "annotations are computed: `from __future__ import annotations` is missing"
    if not (ROOT / "pilote/py.typed").is_file():
        yield ROOT / "pilote", 0, "py.typed is missing, so that type checkers pass the module over"
    yield from unresolved()


def unresolved():
    """Every annotation of what is exported must name something."""
    sys.path.insert(0, str(ROOT))
    import pilote

    for name in pilote.__all__:
        value = getattr(pilote, name, None)
        if value is None:
            yield ROOT / "pilote/__init__.py", 0, f"{name} is exported and not there"
            continue
        members = [value] if callable(value) else []
        members += [member for member in vars(value).values() if callable(member)] if isinstance(value, type) else []
        for member in members:
            if hasattr(member, "__annotations__") and getattr(member, "__module__", "").startswith("pilote"):
                try:
                    typing.get_type_hints(member)
                except NameError as error:
                    yield ROOT / "pilote", 0, f"{name}: {error}"


def main():
    found = 0
    for path, line, what in faults():
        found += 1
        print(f"{path.relative_to(ROOT.parent)}:{line}: {what}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
