"""How many columns text takes on a terminal, by Python's copy of the Unicode database."""
import unicodedata


def columns(text):
    return sum(0 if unicodedata.category(c) in ("Mn", "Me")
               else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
