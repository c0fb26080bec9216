"""The `next` of a list: the same address with a cursor."""

from rest_framework.request import Request


def next_url(request: Request, cursor: str | None) -> str | None:
    """Where the next page is, or None on the last."""
    if cursor is None:
        return None
    query = request.query_params.copy()
    query["cursor"] = cursor
    return f"{request.build_absolute_uri(request.path)}?{query.urlencode()}"
