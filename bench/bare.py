"""The vendor's SDK in a loop of a dozen lines that keeps nothing: what a turn costs at least."""

import os
from typing import Any

import anthropic

from bench.contender import definition, look_up, serve, words

ORDER = '{"order_id": "1", "status": "delivered", "total_minor": 12400, "tracking": ["TRK1"]}'


def main() -> None:
    """One client for the process, as the SDK recommends."""
    client = anthropic.Anthropic(http_client=anthropic.DefaultHttpxClient(trust_env=False))
    request = definition() | {"max_tokens": 16_000}

    def turn(number: int) -> None:
        messages: list[Any] = [{"role": "user", "content": words(number)}]
        while True:
            reply = client.messages.create(**request, messages=messages, timeout=60)
            messages.append({"role": "assistant", "content": [block.to_dict() for block in reply.content]})
            calls = [block for block in reply.content if block.type == "tool_use"]
            if not calls:
                break
            results = [{"type": "tool_result", "tool_use_id": call.id, "content": ORDER} for call in calls]
            messages.append({"role": "user", "content": results})
        assert len(messages) == 4, messages

    serve(turn, look_up)


if __name__ == "__main__":
    assert os.environ["ANTHROPIC_BASE_URL"]
    main()
