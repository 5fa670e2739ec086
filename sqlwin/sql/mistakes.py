from __future__ import annotations
from typing import Any
from sqlwin.errors import QueryError, Span
def explained(unexpected: Any, text: str, grammar: Any, folder: Any, start: str) -> QueryError:
    return QueryError("cannot read this: "+str(unexpected)[:300], Span(max(unexpected.line,1), max(unexpected.column,1), 1), text)
