"""Streams, scripts, faults and the prompt cache, as the real SDK meets them."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from urllib.error import HTTPError

import anthropic
import httpx2
import pytest

from tests.standins.model.shop import TOOLS

EVERY_BLOCK = [
    {"type": "thinking", "thinking": "Let me see.", "signature": "sig1"},
    {"type": "redacted_thinking", "data": "opaque"},
    {"type": "text", "text": "  Two  words,\n£3 \n", "citations": None},
    {"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {"query": "lamp"}},
    {"type": "web_search_tool_result", "tool_use_id": "srv1", "content": []},
    {"type": "hologram", "depth": {"a": None}, "rays": [1, 2.5]},
    {
        "type": "tool_use",
        "id": "t1",
        "name": "get_order",
        "input": {"order_id": "#W1", "deep": {"x": [None, "é"]}},
    },
    {"type": "tool_use", "id": "t2", "name": "list_my_orders", "input": {}},
]


def dicts(message):
    return [block.to_dict() for block in message.content]


def streamed(standin, text, **fields):
    with standin.stream(text, **fields) as stream:
        return stream.get_final_message()


def test_a_scripted_reply_comes_as_written_streamed_or_not(standin):
    standin.script("every-block", {"content": EVERY_BLOCK, "stop_reason": "tool_use", "repeat": 2})
    whole, stream = standin.create("every-block"), streamed(standin, "every-block")
    assert dicts(whole) == EVERY_BLOCK
    assert dicts(stream) == EVERY_BLOCK
    assert whole.stop_reason == stream.stop_reason == "tool_use"
    assert whole.usage.to_dict() == stream.usage.to_dict()
    assert whole._request_id.startswith("req_")


def test_the_brain_answers_the_same_streamed_or_not(standin):
    assert dicts(standin.create("hello")) == dicts(streamed(standin, "hello"))
    with standin.stream("hello") as stream:
        assert len(list(stream.text_stream)) > 10
    call = streamed(standin, "Where is order 4471?", tools=TOOLS).content[0]
    assert (call.name, call.input) == ("get_order", {"order_id": "4471"})


@pytest.mark.parametrize(
    "stop_reason",
    ["max_tokens", "stop_sequence", "pause_turn", "refusal", "model_context_window_exceeded", "never_seen"],
)
def test_every_stop_reason(standin, stop_reason):
    details = {"type": "refusal", "category": "cyber", "explanation": "No."} if stop_reason == "refusal" else None
    reply = {"content": EVERY_BLOCK[2:3], "stop_reason": stop_reason, "stop_details": details, "repeat": 2}
    standin.script("stops", reply)
    for message in (standin.create("stops"), streamed(standin, "stops")):
        assert message.stop_reason == stop_reason
        assert (message.stop_details and message.stop_details.category) == (details and "cyber")


def test_hostile_replies_are_sent_as_they_are(standin):
    same_id = [{"type": "tool_use", "id": "x", "name": "get_order", "input": {}}] * 2
    no_input = [{"type": "tool_use", "id": "x", "name": "get_order"}]
    for content in (same_id, no_input, []):
        standin.script("hostile", {"content": content, "stop_reason": "tool_use", "repeat": 2})
        raw = standin.client.messages.with_raw_response.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "hostile"}]
        )
        assert raw.http_response.json()["content"] == content
        assert dicts(streamed(standin, "hostile")) == content


def test_scripts_answer_in_order_and_only_where_they_match(standin):
    standin.script(
        "alpha",
        {"calls": [{"tool": "get_order", "input": {"amount": float("nan")}}]},
        {"calls": [{"tool": "b"}]},
    )
    standin.script("beta", {"content": [{"type": "text", "text": "from beta"}]})
    assert standin.create("beta").content[0].text == "from beta"
    first = standin.create("alpha").content[0]
    assert first.name == "get_order"
    assert first.input["amount"] != first.input["amount"]
    assert standin.call("/standin/left?match=alpha") == {"left": 1}
    assert standin.create("alpha").content[0].name == "b"
    assert "not sure" in standin.create("alpha").content[0].text


def test_a_replay_gives_one_call_per_reply(standin):
    calls = [{"tool": "get_order", "input": {"order_id": "1"}}, {"tool": "list_my_orders", "input": {}}]
    standin.call("/standin/script", {"match": "play", "replay": calls, "final": "Over."})
    replies = [standin.create("play").content[0] for _ in range(3)]
    assert [(r.name, r.input) for r in replies[:2]] == [(c["tool"], c["input"]) for c in calls]
    assert replies[0].id != replies[1].id
    assert replies[2].text == "Over."


@pytest.mark.parametrize(
    "script",
    [
        [],
        {"match": 1, "replies": [{"calls": []}]},
        {"match": "x"},
        {"match": "x", "replies": [{}]},
        {"match": "x", "replies": [{"fault": "fire"}]},
        {"match": "x", "replies": [{"calls": [{}]}]},
        {"match": "x", "replies": [{"content": [], "repeat": 0}]},
        {"match": "x", "replies": [{"content": [], "colour": "red"}]},
    ],
)
def test_a_wrong_script_is_refused(standin, script):
    with pytest.raises(HTTPError, match="400"):
        standin.call("/standin/script", script)


def test_requests_are_kept_as_they_came(standin):
    standin.create("remember £3")
    standin.create("another")
    (entry,) = standin.received("remember")
    assert json.loads(entry["body"])["messages"][0]["content"] == "remember £3"
    assert entry["headers"]["x-stainless-retry-count"] == "0"
    assert "authorization" not in entry["headers"]


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 429, 500, 503, 504, 529])
def test_error_statuses(standin, status):
    standin.script("status", {"fault": "status", "status": status, "retry_after": 7, "repeat": 2})
    with pytest.raises(anthropic.APIStatusError) as caught:
        standin.create("status")
    assert caught.value.status_code == status
    assert caught.value.response.headers["retry-after"] == "7"
    with pytest.raises(anthropic.APIStatusError), standin.stream("status"):
        pass


def test_a_stream_that_is_cut(standin):
    standin.script("cut", {"fault": "cut_stream", "after_events": 4}, {"fault": "cut_stream"})
    with pytest.raises(httpx2.RemoteProtocolError):
        streamed(standin, "cut")
    with pytest.raises((httpx2.HTTPError, anthropic.APIConnectionError)):
        standin.create("cut")


def test_a_stream_that_ends_early(standin):
    call = {
        "type": "tool_use",
        "id": "t9",
        "name": "issue_refund",
        "input": {"order_id": "#W1", "amount_minor": 5},
    }
    standin.script(
        "early",
        {"fault": "early_eof", "content": [call]},
        {"fault": "early_eof", "content": [call], "after_events": 4},
    )
    for given in (call["input"], {}):
        message = streamed(standin, "early")
        assert message.stop_reason is None
        assert message.content[0].input == given or given == {}


def test_a_stream_that_stalls(standin):
    standin.script("stall", {"fault": "stall", "seconds": 30})
    with pytest.raises(httpx2.ReadTimeout):
        streamed(standin, "stall", timeout=0.3)


def test_an_error_in_the_stream(standin):
    standin.script("event", {"fault": "error_event", "type": "overloaded_error", "repeat": 2})
    with pytest.raises(anthropic.APIStatusError) as caught:
        streamed(standin, "event")
    assert (caught.value.status_code, caught.value.type) == (200, "overloaded_error")
    with pytest.raises(anthropic.APIStatusError):
        standin.create("event")


def test_answers_that_are_no_message(standin):
    standin.script("odd", {"fault": "non_json"}, {"fault": "bad_json"}, {"fault": "bad_json"}, {"fault": "disconnect"})
    assert isinstance(standin.create("odd"), str)
    with pytest.raises(json.JSONDecodeError):
        standin.create("odd")
    with pytest.raises(ValueError):
        streamed(standin, "odd")
    with pytest.raises(anthropic.APIConnectionError):
        standin.create("odd")
    assert standin.call("/healthz") == {"status": "ok"}


def test_a_delay_holds_up_only_its_own_request(standin):
    standin.script("slow", {"delay": 30})
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(standin.create, "slow", timeout=1)
        assert standin.create("hello").content
        with pytest.raises(anthropic.APITimeoutError):
            slow.result()


def test_a_longer_conversation_reads_the_prefix_that_a_shorter_one_wrote(standin):
    system = [{"type": "text", "text": "rule " * 600, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
    history = [{"role": "user", "content": "hello"}]
    fields = {"system": system, "cache_control": {"type": "ephemeral"}}
    first = standin.create(history, **fields)
    history += [{"role": "assistant", "content": dicts(first)}, {"role": "user", "content": "thanks"}]
    second = standin.create(history, **fields)

    written = first.usage.cache_creation_input_tokens
    assert first.usage.cache_read_input_tokens == 0
    assert first.usage.cache_creation.ephemeral_1h_input_tokens >= 750
    assert first.usage.cache_creation.ephemeral_5m_input_tokens > 0
    assert second.usage.cache_read_input_tokens == written
    assert 0 < second.usage.cache_creation_input_tokens < 120
    counted = standin.client.messages.count_tokens(model="claude-opus-5-5", messages=history, system=system)
    parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    assert counted.input_tokens == sum(getattr(second.usage, part) for part in parts)


def test_a_changed_beginning_or_a_short_one_is_not_read(standin):
    def usage(system, model="claude-opus-5-5"):
        block = {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
        return standin.create("hello", system=[block], model=model).usage

    assert usage("a" * 4000).cache_creation_input_tokens > 1000
    assert usage("a" * 4000).cache_read_input_tokens > 1000
    assert usage("b" * 4000).cache_read_input_tokens == 0
    assert usage("a" * 4000, model="claude-sonnet-5-5").cache_read_input_tokens == 0
    assert usage("short").cache_creation_input_tokens == 0
    assert usage("short").cache_read_input_tokens == 0


def test_the_stand_in_stands_on_its_own():
    ours = ("standins", "agents", "ledger", "base", "django")
    code = f"import sys, standins.model.server; print(*(m for m in sys.modules if m.split('.')[0] in {ours}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded
    assert all(name.startswith("standins") for name in loaded)
