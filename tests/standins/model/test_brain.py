"""What customers write, which write or look-up follows, and what the answer says."""

import pytest

from tests.standins.model.shop import TOOLS, Chat

ORDER = {"order_id": "#W4471"}


def refund(amount_minor, reason):
    return ("issue_refund", {"order_id": "#W4471", "amount_minor": amount_minor, "reason": reason})


@pytest.mark.parametrize(
    ("text", "last_call", "answer"),
    [
        ("hello", None, "AI assistant"),
        ("Hi, where is my order 4471?", ("get_order", ORDER), "has been delivered"),
        ("Where is my order #W4471?", ("get_order", ORDER), "Lamp, Rug"),
        ("status of order w4471 please", ("get_order", ORDER), "TRK-9"),
        ("Where is order 9999?", ("list_my_orders", {}), "can't find order 9999"),
        ("Where is my order?", ("list_my_orders", {}), "Which one is it?"),
        ("what have I ordered?", ("list_my_orders", {}), "#W5000"),
        ("I want £12 back for order 4471, it came damaged", refund(1200, "damaged"), "That's done."),
        ("Please refund 12 pounds for order #W4471, it was late", refund(1200, "late"), "T-7F3K9Q"),
        ("I want £12.50 back on #W4471: wrong size", refund(1250, "wrong_item"), "That's done."),
        ("refund me the whole £124", refund(12400, "other"), "queued for approval, reference R-7F3K9Q"),
        (
            "refund everything on order 4471, the lamp is broken",
            refund(12400, "damaged"),
            "Nothing has changed yet",
        ),
        ("refund £500 for order 4471", refund(50000, "other"), "Only £124.00"),
        ("refund $12 for order 4471", ("get_order", ORDER), "paid in GBP"),
        ("refund £0 for order 4471", refund(0, "other"), "That's done."),
        ("I want a refund for order 4471", ("get_order", ORDER), "Up to £124.00"),
        (
            "refund ¥300 for order 5000",
            ("issue_refund", {"order_id": "#W5000", "amount_minor": 300, "reason": "other"}),
            "That's done.",
        ),
        (
            "cancel order #W5000, I don't need it",
            ("cancel_order", {"order_id": "#W5000", "reason": "no_longer_needed"}),
            "That's done.",
        ),
        ("cancel order #W5000", ("get_order", {"order_id": "#W5000"}), "May I ask why"),
        (
            "I want to return the rug from order 4471",
            (
                "return_items",
                {"order_id": "#W4471", "item_ids": ["1000000002"], "payment_method_id": "credit_card_1"},
            ),
            "That's done.",
        ),
        (
            "Exchange item 1000000001 of order #W4471 for 1000000009 and use paypal_7",
            (
                "exchange_items",
                {
                    "order_id": "#W4471",
                    "item_ids": ["1000000001"],
                    "new_item_ids": ["1000000009"],
                    "payment_method_id": "paypal_7",
                },
            ),
            "That's done.",
        ),
        (
            "pay for order #W5000 with PayPal instead",
            ("change_order_payment", {"order_id": "#W5000", "payment_method_id": "paypal_7"}),
            "That's done.",
        ),
        (
            "Change the address of order #W5000 to 1 High Street, Leeds, Yorkshire, LS1 1AA, UK",
            (
                "change_order_address",
                {
                    "order_id": "#W5000",
                    "line1": "1 High Street",
                    "line2": "",
                    "city": "Leeds",
                    "region": "Yorkshire",
                    "postal_code": "LS1 1AA",
                    "country": "UK",
                },
            ),
            "That's done.",
        ),
        (
            "My address is 1 High Street, Flat 2, Leeds, Yorkshire, LS1 1AA, UK",
            (
                "change_my_address",
                {
                    "line1": "1 High Street",
                    "line2": "Flat 2",
                    "city": "Leeds",
                    "region": "Yorkshire",
                    "postal_code": "LS1 1AA",
                    "country": "UK",
                },
            ),
            "That's done.",
        ),
        (
            "what's the status of my refund?",
            ("list_my_requests", {}),
            "R-7F3K9Q (Refund of £124.00): waiting",
        ),
        ("withdraw my request", ("withdraw_request", {"reference": "R-7F3K9Q"}), "That's done."),
        (
            "I want to speak to a human",
            ("hand_off_to_human", {"summary": "I want to speak to a human"}),
            "colleague",
        ),
        ("What is your refund policy?", ("get_refund_policy", {}), "Thirty days"),
        ("do you sell lamps?", ("list_products", {"query": "lamps"}), "Lamp"),
        ("how do I get gift wrapping?", ("read_help_article", {"name": "gift-wrap"}), "wrap gifts for free"),
        ("thanks!", None, "welcome"),
        ("blorp", None, "not sure I understood"),
        ("🙂", None, "not sure I understood"),
    ],
)
def test_sentence(standin, text, last_call, answer):
    chat = Chat(standin)
    assert answer in chat.say(text)
    assert (chat.calls[-1] if chat.calls else None) == last_call


@pytest.mark.parametrize(
    ("texts", "last_call"),
    [
        (["I'd like a refund", "#W4471", "£12, it is cracked"], refund(1200, "damaged")),
        (["Where is my order 4471?", "refund me the whole £124"], refund(12400, "other")),
        (["My lamp from order 4471 came damaged", "I want £12 back"], refund(1200, "damaged")),
        (
            ["cancel order #W5000", "it was a mistake"],
            ("cancel_order", {"order_id": "#W5000", "reason": "ordered_by_mistake"}),
        ),
        (["I want £12 back for order 4471", "thanks", "great"], refund(1200, "other")),
    ],
)
def test_conversation(standin, texts, last_call):
    chat = Chat(standin)
    for text in texts:
        chat.say(text)
    assert chat.calls[-1] == last_call
    assert [name for name, _ in chat.calls].count(last_call[0]) == 1


def test_a_tool_that_is_not_offered_is_not_called(standin):
    chat = Chat(standin, tools=[tool for tool in TOOLS if tool["name"] == "get_order"])
    assert "can't issue refunds here" in chat.say("I want £12 back for order #W4471")
    assert [name for name, _ in chat.calls] == ["get_order"]


def test_a_failure_of_the_shop_is_passed_on_and_not_repeated(standin, monkeypatch):
    failure = "get_order failed on our side (E-4K7Q2M). Do not call it again now; tell the customer."
    monkeypatch.setattr("tests.standins.model.shop.run_tool", lambda name, arguments: (failure, True))
    chat = Chat(standin)
    answer = chat.say("Where is order 4471?")
    assert "That step failed on our side (E-4K7Q2M)." in answer
    assert "again now" not in answer
    assert len(chat.calls) == 1


@pytest.mark.parametrize("result", ["", "null", "[1]", "{}", '{"items": [null, 3]}', '{"status": "odd"}', "not json"])
@pytest.mark.parametrize("text", ["refund £12 for order 4471", "my orders", "any news?", "do you sell lamps?"])
def test_odd_results_never_break_a_reply_or_become_a_claim(standin, monkeypatch, result, text):
    monkeypatch.setattr("tests.standins.model.shop.run_tool", lambda name, arguments: (result, False))
    assert "That's done" not in Chat(standin).say(text)


def test_outcomes_in_the_operator_channel_are_told_when_asked(standin):
    history = [
        {"role": "user", "content": "any news?"},
        {"role": "system", "content": "Request R-ABC123 was executed: refund of 1200 GBP."},
    ]
    call = standin.create(history, tools=TOOLS).content[0].to_dict()
    history += [
        {"role": "assistant", "content": [call]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": '{"items": []}'}],
        },
    ]
    assert "R-ABC123: done" in standin.create(history, tools=TOOLS).content[0].text
