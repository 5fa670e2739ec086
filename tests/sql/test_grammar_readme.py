import re

from sqlwin.sql.syntax.parsing.parser import grammar_folder


def test_every_rule_is_explained() -> None:
    grammar = (grammar_folder() / "sqlwin.lark").read_text("utf-8")
    readme = (grammar_folder() / "README.md").read_text("utf-8")
    rules = re.findall(r"^\??([a-z]\w*)(?:\{\w+\})?:", grammar, re.MULTILINE)
    assert len(rules) > 50
    missing = [rule for rule in rules if not re.search(rf"`{rule}[`{{]", readme)]
    assert not missing
