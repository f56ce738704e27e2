"""Who may use the service: whoever knows the token, if there is one."""

import hashlib
import hmac
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from samovar.errors import SettingsError
from samovar.service.problems import Problem

SHORTEST_TOKEN = 16
"""Characters; shorter ones can be guessed by trying."""
BEARER = HTTPBearer(auto_error=False, description="The token of `samovar serve --token`.")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)]


def check_token(token: str) -> None:
    """Refuse a token that can be guessed, or that no header can carry."""
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
        raise SettingsError(
            f"The token must have at least {SHORTEST_TOKEN} printable ASCII characters. Make one "
            "with: python -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    if " " in token:
        raise SettingsError("The token must not have spaces.")


def same_secret(given: str, secret: str) -> bool:
    """Compare two texts in a time that tells nothing about either, not even the length.

    >>> same_secret("abc", "abc"), same_secret("abd", "abc")
    (True, False)
    """
    digests = []
    for text in (given, secret):
        digests.append(hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest())
    return hmac.compare_digest(*digests)


def token_required(token: str) -> Callable[[Credentials], Awaitable[None]]:
    """Return the dependency of routes that only clients with the token may use."""

    async def check(credentials: Credentials) -> None:
        if credentials is None or not same_secret(credentials.credentials, token):
            raise Problem(
                401,
                "This server asks for a token: send it as 'Authorization: Bearer TOKEN'.",
                headers={"WWW-Authenticate": "Bearer"},
            )

    return check
