"""Reads a text token by token, with sqlglot's tokenizer for StarRocks, and reports errors with their place."""

from __future__ import annotations

from typing import ClassVar, NoReturn

from sqlglot import Token, TokenType
from sqlglot.dialects.starrocks import StarRocks
from sqlglot.errors import TokenError

from spark_colocate.errors import Code, DialectError

COMPARE = "docs/how-to/doris.md lists what can be written."
_WORDS_AND_VALUES = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER)
_TYPOGRAPHIC = "“”„‘’‚«»"


class _Dialect(StarRocks):
    """Every word is a plain word: which ones have a meaning depends on the statement."""

    class Tokenizer(StarRocks.Tokenizer):
        KEYWORDS: ClassVar = {key: kind for key, kind in StarRocks.Tokenizer.KEYWORDS.items() if not key[0].isalpha()}
        COMMANDS: ClassVar[set[TokenType]] = set()


class Cursor:
    """A place in a text. `statement` names the kind of statement in errors."""

    def __init__(self, text: str, statement: str = "the statement") -> None:
        self.text = text
        self.statement = statement
        self._next = 0
        try:
            self._tokens: list[Token] = _Dialect().tokenize(text)
        except TokenError as error:
            self.fail(self._open_quote(), "a quote is opened here and not closed", cause=error)

    # --- Looking ---

    def word(self, ahead: int = 0) -> str:
        """The next word in capitals; empty where the next token is a string, a quoted name, a sign or the end."""
        token = self._token(ahead)
        return token.text.upper() if token and token.token_type is TokenType.VAR else ""

    def comes(self, *words: str) -> bool:
        """Whether these words or signs come next."""
        return all(self._is(word, ahead) for ahead, word in enumerate(words))

    def comes_at(self, ahead: int, word: str) -> bool:
        """Whether this word or sign comes after `ahead` others."""
        return self._is(word, ahead)

    def at_end(self) -> bool:
        return self._token() is None

    @property
    def at(self) -> int:
        """Where the next token starts."""
        token = self._token()
        return token.start if token else len(self.text.rstrip())

    @property
    def before(self) -> int:
        """Where the token starts that was taken last."""
        return self._tokens[self._next - 1].start

    def is_name_in_parentheses(self, ahead: int) -> bool:
        """Whether a parenthesis comes, and a word or quoted name in it."""
        inner = self._token(ahead + 1)
        return self._is("(", ahead) and inner is not None and inner.token_type in (TokenType.VAR, TokenType.IDENTIFIER)

    # --- Looking by the number of a token ---

    @property
    def size(self) -> int:
        return len(self._tokens)

    def start_of(self, number: int) -> int:
        return self._tokens[number].start if number < self.size else len(self.text.rstrip())

    def end_of(self, number: int) -> int:
        return self._tokens[number].end + 1

    def is_at(self, number: int, word: str) -> bool:
        """Whether the token of this number is this word or sign."""
        return self._is(word, number - self._next)

    def is_word_or_value(self, number: int) -> bool:
        token = self._token(number - self._next)
        return token is not None and token.token_type in _WORDS_AND_VALUES

    def is_name(self, number: int) -> bool:
        token = self._token(number - self._next)
        return token is not None and token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)

    def is_name_or_text(self, number: int) -> bool:
        token = self._token(number - self._next)
        return self.is_name(number) or (token is not None and token.token_type is TokenType.STRING)

    def text_of(self, number: int) -> str:
        """The name without quotes."""
        return self._tokens[number].text

    # --- Taking ---

    def takes(self, *words: str) -> bool:
        """Takes these words or signs if all of them come next."""
        if not self.comes(*words):
            return False
        self._next += len(words)
        return True

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.takes(word):
                self.unexpected(word if word.isalpha() else f"'{word}'")

    def name(self, what: str) -> str:
        """A name, quoted or not."""
        token = self._token()
        if token is None or token.token_type not in (TokenType.VAR, TokenType.IDENTIFIER):
            self.unexpected(what)
        if token.token_type is TokenType.VAR and any(mark in token.text for mark in _TYPOGRAPHIC):
            self.unexpected(what)
        self._next += 1
        return token.text

    def names(self, what: str) -> list[str]:
        """Names in parentheses, separated by commas."""
        self.expect("(")
        found = [self.name(what)]
        while self.takes(","):
            found.append(self.name(what))
        if not self.takes(")"):
            self.unexpected("','", "')'")
        return found

    def table(self) -> tuple[str, ...]:
        """A table's name, with its database or without."""
        parts = [self.name("the name of a table")]
        while self.takes("."):
            parts.append(self.name("a name"))
        return tuple(parts)

    def string(self, what: str) -> str:
        token = self._token()
        if token is None or token.token_type is not TokenType.STRING:
            self.unexpected(f"{what} in quotes")
        self._next += 1
        return token.text

    def number(self, what: str) -> int:
        token = self._token()
        if token is None or token.token_type is not TokenType.NUMBER or not token.text.isdecimal():
            self.unexpected(what)
        self._next += 1
        return int(token.text)

    def literal(self, what: str) -> str:
        """A string or a number, signed or not, as text."""
        sign = "-" if self.takes("-") else ""
        token = self._token()
        if token is None or token.token_type not in (TokenType.STRING, TokenType.NUMBER):
            self.unexpected(what)
        self._next += 1
        return sign + token.text

    def until(self, *words: str) -> str:
        """The text up to the next of these words or signs that is in no parentheses or brackets of it."""
        start, depth, end = self.at, 0, self.at
        while not self.at_end() and (depth or not any(self._is(word, 0) for word in words)):
            depth += sum(self._is(sign, 0) for sign in "(<") - sum(self._is(sign, 0) for sign in ")>")
            end = self._tokens[self._next].end + 1
            self._next += 1
        return self.text[start:end]

    def rest(self) -> str:
        """The text from here to the end, without the semicolon."""
        start, self._next = self.at, len(self._tokens)
        return self.text[start:].strip().rstrip(";").rstrip()

    def end(self, *others: str) -> None:
        """Nothing but a semicolon may follow. others: what else could have come."""
        while self.takes(";"):
            pass
        if not self.at_end():
            self.unexpected(*others, "the end")

    # --- Failing ---

    def unexpected(self, *wanted: str) -> NoReturn:
        """Raises the error that the next token is none of these."""
        token = self._token()
        found = self.text[token.start : token.end + 1] if token else ""
        if any(mark in found for mark in _TYPOGRAPHIC):
            self.fail(self.at, f"{found} has typographic quotes", "Write ` around names and \" or ' around strings.")
        shown = f"'{found}'" if token else "the end of the text"
        self.fail(self.at, f"found {shown}, expected {_either(wanted)}")

    def unsupported(self, what: str, cure: str, at: int | None = None) -> NoReturn:
        """Doris knows what stands here (or at `at`), and it is not translated."""
        self.fail(self.at if at is None else at, what, cure, Code.DORIS_UNSUPPORTED)

    def fail(
        self, at: int, what: str, cure: str = COMPARE, code: Code = Code.DORIS_SYNTAX, cause: Exception | None = None
    ) -> NoReturn:
        line, column = self.text.count("\n", 0, at) + 1, at - self.text.rfind("\n", 0, at)
        verb = "read" if code is Code.DORIS_SYNTAX else "run"
        headline = f"Cannot {verb} {self.statement} at line {line}, column {column}: {what}."
        raise DialectError(code, headline, cure, line, column) from cause

    # --- Steps ---

    def _token(self, ahead: int = 0) -> Token | None:
        place = self._next + ahead
        return self._tokens[place] if place < len(self._tokens) else None

    def _is(self, word: str, ahead: int) -> bool:
        token = self._token(ahead)
        if token is None or token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            return False
        return token.text.upper() == word

    def _open_quote(self) -> int:
        """Where the quote was opened that nothing closes."""
        place = 0
        while place < len(self.text):
            quote = self.text[place]
            if quote in "'\"`":
                closed = self.text.find(quote, place + 1)
                while closed > 0 and quote != "`" and self.text[closed - 1] == "\\":
                    closed = self.text.find(quote, closed + 1)
                if closed < 0:
                    return place
                place = closed
            place += 1
        return 0


def _either(wanted: tuple[str, ...]) -> str:
    return wanted[0] if len(wanted) == 1 else ", ".join(wanted[:-1]) + " or " + wanted[-1]
