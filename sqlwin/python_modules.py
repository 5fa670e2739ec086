"""Which modules a text may import functions of Python from: none, unless the process says so.

A text is data, and `CREATE FUNCTION f AS 'os.system' LANGUAGE PYTHON` would make a program of it.
So the environment of the process names the modules, each with those below it:
`SQLWIN_PYTHON_MODULES=orders_lib,shop.prices`.

>>> allows("shop", "shop.prices.net"), allows("shop", "shopping.net"), allows("", "os.system")
(True, False, False)
"""

from __future__ import annotations

import os

from sqlwin.errors import QueryError, Span

VARIABLE = "SQLWIN_PYTHON_MODULES"


def allows(modules: str, path: str) -> bool:
    """modules: as of the variable. path: of a function, `module.function`."""
    named = [module.strip() for module in modules.split(",") if module.strip()]
    return any(path.startswith(f"{module}.") for module in named)


def importable(path: str, span: Span) -> None:
    """QueryError where the text may not import it."""
    module = path.rpartition(".")[0]
    if not module or not all(part.isidentifier() for part in path.split(".")):
        message = f"{path} is no function of a module"
        raise QueryError(message, span, legal="'module.function'")
    if not allows(os.environ.get(VARIABLE, ""), path):
        message = f"a text may import no module but those that the process names, and not {module}"
        raise QueryError(message, span, legal=f"{VARIABLE}={module} in the environment of the run")
