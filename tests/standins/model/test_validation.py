"""Requests that the Messages API refuses."""

import anthropic
import pytest

TEXT = {"type": "text", "text": "hi"}
USER = {"role": "user", "content": "hi"}
SYSTEM = {"role": "system", "content": "R-ABC123 executed."}
TOOL = {"name": "look", "input_schema": {"type": "object"}}


def use(tool_use_id="t1", **fields):
    return {"type": "tool_use", "id": tool_use_id, "name": "look", "input": {}} | fields


def result(tool_use_id="t1", **fields):
    return {"type": "tool_result", "tool_use_id": tool_use_id} | fields


def user(*content):
    return {"role": "user", "content": list(content)}


def assistant(*content):
    return {"role": "assistant", "content": list(content)}


VALID = [
    [USER],
    [USER, SYSTEM],
    [USER, SYSTEM, assistant(TEXT), USER],
    [USER, USER],
    [USER, assistant(use()), user(result())],
    [USER, assistant(use()), user(result(content="ok"), TEXT)],
    [USER, assistant(use()), user(result(content="ok")), USER],
    [USER, assistant(use()), user(result(content=[TEXT], is_error=True)), SYSTEM],
    [USER, assistant(TEXT, use("a"), use("b")), user(result("b"), result("a"))],
    [USER, assistant({"type": "hologram", "x": None}), USER],
    [USER, assistant({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}})],
]
INVALID = [
    ([], "at least one"),
    ([assistant(TEXT), USER], "first message"),
    ([SYSTEM, USER], "first message"),
    ([USER, assistant(TEXT), SYSTEM], "directly follow a user"),
    ([USER, SYSTEM, SYSTEM], "directly follow a user"),
    ([USER, SYSTEM, USER], "last or precede"),
    ([USER, assistant(use()), SYSTEM, user(result())], "directly follow a user"),
    ([USER, assistant(use()), USER], "without `tool_result`"),
    ([USER, assistant(use())], "without `tool_result`"),
    ([USER, assistant(use()), USER, user(result())], "without `tool_result`"),
    ([USER, assistant(use("a"), use("b")), user(result("a"))], "b."),
    ([USER, assistant(use("a"), use("b")), user(result("a")), user(result("b"))], "b."),
    ([USER, user(result())], "must have a `tool_use`"),
    ([USER, assistant(use()), user(result()), user(result())], "must have a `tool_use`"),
    ([USER, assistant(use()), user(result(), result())], "single"),
    ([USER, assistant(use()), user(TEXT, result())], "must come first"),
    ([USER, assistant(use(), use()), user(result())], "unique"),
    ([USER, assistant(use()), user(result()), assistant(use()), user(result())], "unique"),
    ([USER, assistant({"type": "tool_use", "id": "t1", "name": "look"}), user(result())], "input"),
    ([USER, assistant(TEXT)], "Prefilling"),
    ([USER, assistant(), USER], "non-empty content"),
    ([user({"type": "text", "text": ""})], "non-whitespace"),
    ([USER, assistant(use()), user(result(content=[{"type": "text", "text": " "}]))], "non-whitespace"),
    ([user({"type": "hologram"})], "expected tags"),
    ([user(TEXT | {"id": 3})], "Extra inputs"),
    ([USER | {"id": 3}], "Extra inputs"),
    ([user(TEXT | {"citations": [{}]})], "citations"),
    ([USER, assistant({"type": "document", "source": {}}), USER], "not permitted"),
    ([USER, assistant({"type": "thinking", "thinking": ""}), USER], "signature"),
    ([{"role": "tool", "content": "x"}], "role"),
]


@pytest.mark.parametrize("messages", VALID)
def test_a_valid_history_is_taken(standin, messages):
    assert standin.create(messages).stop_reason == "end_turn"


@pytest.mark.parametrize(("messages", "words"), INVALID)
def test_an_invalid_history_is_refused(standin, messages, words):
    with pytest.raises(anthropic.BadRequestError) as caught:
        standin.create(messages)
    assert caught.value.type == "invalid_request_error"
    assert words in caught.value.body["error"]["message"]
    assert caught.value.request_id.startswith("req_")


@pytest.mark.parametrize(
    "fields",
    [
        {"temperature": 0},
        {"top_p": None},
        {"surprise": 1},
        {"max_tokens": 0},
        {"max_tokens": True},
        {"model": ""},
        {"stream": "yes"},
        {"metadata": {"name": "x"}},
        {"tools": [{"name": "a b", "input_schema": {"type": "object"}}]},
        {"tools": [{"name": "look"}]},
        {"tools": [TOOL, TOOL]},
        {"tool_choice": {"type": "any"}},
        {"thinking": {"type": "disabled"}},
        {"system": [{"type": "text", "text": ""}]},
        {"cache_control": {"type": "forever"}},
        {"tools": [TOOL | {"name": f"t{n}", "cache_control": {"type": "ephemeral"}} for n in range(5)]},
    ],
)
def test_a_wrong_field_is_refused(standin, fields):
    with pytest.raises(anthropic.BadRequestError):
        standin.create("hi", extra_body=fields)


def test_a_key_a_version_and_json_are_needed(standin):
    with pytest.raises(anthropic.AuthenticationError):
        standin.create("hi", extra_headers={"Authorization": "Bearer"})
    with pytest.raises(anthropic.BadRequestError, match="anthropic-version"):
        standin.create("hi", extra_headers={"anthropic-version": anthropic.omit})
    headers = {"x-api-key": "k", "anthropic-version": "2026-10-21"}
    for body in (b"{", b"[]", b"\xff", b"[" * 100_000):
        with pytest.raises(anthropic.BadRequestError):
            standin.client.post("/v1/messages", content=body, cast_to=object, options={"headers": headers})
    with pytest.raises(anthropic.NotFoundError):
        standin.client.post("/v1/elsewhere", body={}, cast_to=object)


def test_thinking_comes_back_only_after_an_unchanged_beginning(standin):
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "sig-unchanged"}
    standin.script("unchanged", {"content": [thinking, use("th1")]})
    first = {"role": "user", "content": "unchanged"}
    standin.create([first], system="You help.", tools=[TOOL])
    history = [first, assistant(thinking, use("th1")), user(result("th1"))]

    standin.create(history, system="You help.", tools=[TOOL], tool_choice={"type": "none"})
    standin.create(history, system=[TEXT | {"text": "You help.", "cache_control": {"type": "ephemeral"}}], tools=[TOOL])
    dropped = [first, assistant(use("th1")), user(result("th1"))]
    edited = [first, assistant(thinking | {"thinking": "Ha."}, use("th1")), user(result("th1"))]
    for messages, system, tools in (
        (history, "You assist.", [TOOL]),
        (history, "You help.", [TOOL | {"description": "new"}]),
        (dropped, "You help.", [TOOL]),
        (edited, "You help.", [TOOL]),
        ([USER, *history], "You help.", [TOOL]),
    ):
        with pytest.raises(anthropic.BadRequestError, match="cannot be modified"):
            standin.create(messages, system=system, tools=tools)


def test_health_needs_no_key(standin):
    assert standin.call("/healthz") == {"status": "ok"}
