"""Numbers printed and read by a format of Spark's: `S99G999D99`, `$9,990.00`, `999.9PR`.

| `9`, `0`   | a digit; a number begins with spaces where its first digit is a 9, else with zeros |
| `,` `G`    | between thousands, or wherever it stands                                           |
| `.` `D`    | the decimal point                                                                  |
| `$`        | itself                                                                             |
| `S`        | + or -, at either end                                                              |
| `MI`       | a space or -, at either end                                                        |
| `PR`       | <…> around a negative number                                                       |

A number that does not fit is printed as `#` for each digit.

>>> number_format("S9,999.00").printed(Decimal("-12.5"))
'   -12.50'
>>> number_format("99,999PR").read("<12,454>")
Decimal('-12454')
>>> number_format("9$")
Traceback (most recent call last):
ValueError: [INVALID_FORMAT] 9$: no number format
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from sqlwin.lazy_dataclass import dataclass

_FORM = re.compile(r"(MI|S)?(\$)?([09][09,]*)?(?:(\.)([09]*))?(MI|S|PR)?\Z")


@dataclass(frozen=True)
class NumberFormat:
    """sign: in front, or `end` behind: S, MI or PR."""

    text: str
    sign: str
    currency: bool
    whole: str
    point: bool
    fraction: str
    end: str

    @property
    def digits(self) -> tuple[int, int]:
        """Precision and scale of the numbers it reads."""
        whole = len(self.whole.replace(",", ""))
        return whole + len(self.fraction), len(self.fraction)

    def printed(self, number: Decimal) -> str:
        """Signs stand right before the digits; a comma among what is no digit is a space."""
        negative = number < 0
        whole, _, fraction = f"{abs(number):f}".partition(".")
        whole, fraction = whole.lstrip("0"), fraction.rstrip("0")
        precision, scale = self.digits
        if len(whole) > precision - scale or len(fraction) > scale:
            whole, fraction = "#" * (precision - scale), "#" * scale
        body = self._whole(whole)
        sign = "<" if self.end == "PR" and negative else _signed(self.sign, negative)
        if self.currency:
            body = f"{sign}${body}"
        elif sign:
            digits = body.lstrip(" ")
            body = " " * (len(body) - len(digits)) + sign + digits
        if self.point and body.endswith(" "):
            body = body[:-1] + "0"
        point = "" if not self.point else "." if scale else " "
        return body + point + fraction.ljust(scale, "0") + self._ended(negative)

    def _ended(self, negative: bool) -> str:
        if self.end == "PR":
            return ">" if negative else "  "
        return _signed(self.end, negative)

    def _whole(self, digits: str) -> str:
        made, missing = "", len(self.whole.replace(",", "")) - len(digits)
        for at, group in enumerate(self.whole.split(",")):
            if at:
                made += "," if made[-1:].isdecimal() else " "
            for _ in group:
                if missing > 0:
                    missing -= 1
                    made += "0" if group[0] == "0" or made[-1:].isdecimal() else " "
                else:
                    made, digits = made + digits[0], digits[1:]
        return made

    def read(self, text: str) -> Decimal | None:
        """None where the text is not of this format."""
        found = self._reader.match(text)
        if found is None:
            return None
        parts = found.groupdict()
        whole, fraction = parts["whole"] or "", parts.get("fraction") or ""
        groups = [_without_space(group) for group in whole.split(",")]
        if (
            not _fits(groups, self.whole.split(","))
            or len(_without_space(fraction)) > self.digits[1]
        ):
            return None
        digits = "".join(groups)
        if not digits and not _without_space(fraction):
            return None
        number = Decimal(f"{digits or 0}.{_without_space(fraction) or 0}")
        brackets = (parts.get("open") or "") + (parts.get("close") or "")
        if brackets not in ("", "<>"):
            return None
        negative = brackets == "<>" or "-" in ((parts.get("sign") or "") + (parts.get("end") or ""))
        made = -number if negative else number
        return made.quantize(Decimal(1).scaleb(-self.digits[1])) + 0

    @property
    def _reader(self) -> re.Pattern[str]:
        return _reader(self)


_SPACE = " \t\n\x0b\f\r\x1c-\x1f"
"""What Java takes for one, of ASCII."""


def _without_space(text: str) -> str:
    return re.sub(f"[{_SPACE}]", "", text)


def _signed(sign: str, negative: bool) -> str:
    if sign in ("", "PR"):
        return ""
    return "-" if negative else "+" if sign == "S" else " "


def _fits(groups: list[str], wanted: list[str]) -> bool:
    """Each group, from the last: as many digits as zeros say, or at most as many as nines do."""
    if len(groups) > len(wanted):
        return False
    found = [len(group.strip()) for group in reversed(groups)] + [0] * len(wanted)
    return all(
        count == len(form) if form.startswith("0") else count <= len(form)
        for count, form in zip(found, reversed(wanted), strict=False)
    )


@lru_cache(maxsize=256)
def _reader(form: NumberFormat) -> re.Pattern[str]:
    signs = {"S": r"(?P<{0}>[+-]?)", "MI": r"(?P<{0}>[- ]?)"}
    text = signs.get(form.sign, "").replace("{0}", "sign")
    text += r"(?P<open><?)" if form.end == "PR" else ""
    text += r"\$" if form.currency else ""
    text += rf"(?P<whole>[\d,{_SPACE}]*)"
    text += rf"(?:\.(?P<fraction>[\d{_SPACE}]*))?" if form.point else ""
    text += r"(?P<close>>?)" if form.end == "PR" else signs.get(form.end, "").replace("{0}", "end")
    return re.compile(text + r"\Z")


@lru_cache(maxsize=256)
def number_format(text: str) -> NumberFormat:
    """ValueError where it is none."""
    plain = text.upper().replace("G", ",").replace("D", ".")
    found = _FORM.match(plain)
    sign, currency, whole, point, fraction, end = found.groups() if found else (None,) * 6
    digits = (whole or "") + (fraction or "")
    if found is None or not digits or (whole or "").endswith(",") or ",," in (whole or ""):
        raise ValueError(f"[INVALID_FORMAT] {text[:200]}: no number format")
    if sign is not None and end == sign:
        raise ValueError(f"[INVALID_FORMAT] {text[:200]}: at most one {sign} is allowed")
    if len(digits.replace(",", "")) > 38:
        raise ValueError(f"[INVALID_FORMAT] {text[:200]}: more than 38 digits")
    return NumberFormat(
        text, sign or "", bool(currency), whole or "", bool(point), fraction or "", end or ""
    )
