"""Codes and names of fields that `words` makes readable, for the catalogues of other languages.

What is not here is shown in English; a test holds the columns, facts and states against it.
"""

from django.utils.translation import gettext_noop

CODES = (
    # States of requests, turns, payouts and orders.
    gettext_noop("Pending"), gettext_noop("Approved"), gettext_noop("Executing"), gettext_noop("Executed"),
    gettext_noop("Denied"), gettext_noop("Expired"), gettext_noop("Stale"), gettext_noop("Withdrawn"),
    gettext_noop("Failed"), gettext_noop("Unknown"), gettext_noop("Refused"), gettext_noop("Queued"),
    gettext_noop("Observed"), gettext_noop("Running"), gettext_noop("Finished"), gettext_noop("Open"),
    gettext_noop("With staff"), gettext_noop("Closed"), gettext_noop("Sent"), gettext_noop("Settled"),
    gettext_noop("Outside"), gettext_noop("Recalled"), gettext_noop("Delivered"), gettext_noop("Processed"),
    gettext_noop("Pending items changed"), gettext_noop("Cancelled"), gettext_noop("Return requested"),
    gettext_noop("Exchange requested"), gettext_noop("Won"), gettext_noop("Lost"),
    # Why a turn ended, and a reply stopped.
    gettext_noop("Answered"), gettext_noop("Parked"), gettext_noop("Cut"), gettext_noop("Refusal"),
    gettext_noop("Max tokens"), gettext_noop("Context window"), gettext_noop("Model context window exceeded"),
    gettext_noop("Stop sequence"), gettext_noop("Pause turn"), gettext_noop("Model unavailable"),
    gettext_noop("Taken over"), gettext_noop("Signed out"), gettext_noop("Limit model calls"),
    gettext_noop("Limit input tokens"), gettext_noop("Limit output tokens"), gettext_noop("Limit money"),
    gettext_noop("Limit seconds"), gettext_noop("Limit writes"), gettext_noop("Limit errors"),
    gettext_noop("Limit day"),
    # Verdicts, and what people gave as a reason.
    gettext_noop("Allow"), gettext_noop("Ask"), gettext_noop("Deny"), gettext_noop("Damaged"), gettext_noop("Late"),
    gettext_noop("Wrong item"), gettext_noop("No longer needed"), gettext_noop("Ordered by mistake"),
    gettext_noop("Other"),
    # Kinds and decisions of events.
    gettext_noop("Dispatch"), gettext_noop("Decision"), gettext_noop("Execution"), gettext_noop("Sign in"),
    gettext_noop("Access"), gettext_noop("Role"), gettext_noop("Policy"), gettext_noop("Brake"), gettext_noop("Turn"),
    gettext_noop("Request"), gettext_noop("Payout"), gettext_noop("Decoy"), gettext_noop("Read"),
    gettext_noop("Accepted"), gettext_noop("Confirmed"), gettext_noop("Passkey added"),
    gettext_noop("Passkey removed"), gettext_noop("Totp added"), gettext_noop("Totp removed"),
    gettext_noop("Codes added"), gettext_noop("Codes removed"), gettext_noop("Factors removed"),
    gettext_noop("Linked"), gettext_noop("Unlinked"), gettext_noop("Password set"), gettext_noop("Session ended"),
    gettext_noop("Ended access"), gettext_noop("Contact set"), gettext_noop("Issued"), gettext_noop("Granted"),
    gettext_noop("Changed"), gettext_noop("Created"), gettext_noop("Left"), gettext_noop("Returned"),
    gettext_noop("Claimed"), gettext_noop("Released"), gettext_noop("Given"), gettext_noop("Assigned"),
    gettext_noop("Asked"), gettext_noop("Undone"), gettext_noop("Sent back"), gettext_noop("Mistake"),
    gettext_noop("Task done"), gettext_noop("Reopened"), gettext_noop("Spot checked"),
    gettext_noop("Noted"), gettext_noop("Flagged"), gettext_noop("Flag cleared"), gettext_noop("Cleared"),
    gettext_noop("Edited"), gettext_noop("Proposed"), gettext_noop("Activated"), gettext_noop("Pinned"),
    gettext_noop("Unpinned"), gettext_noop("Limit set"), gettext_noop("Pulled"), gettext_noop("Release proposed"),
    gettext_noop("Intended"), gettext_noop("Replayed"), gettext_noop("Retried"), gettext_noop("Ended"),
    gettext_noop("Staff wrote"), gettext_noop("Handed back"), gettext_noop("Deactivated"), gettext_noop("Reactivated"),
    # Columns of an event, and what it can be found by.
    gettext_noop("Id"), gettext_noop("At"), gettext_noop("Kind"), gettext_noop("Actor kind"), gettext_noop("Actor id"),
    gettext_noop("Customer id"), gettext_noop("Conversation id"), gettext_noop("Turn id"), gettext_noop("Tool use id"),
    gettext_noop("Tool"), gettext_noop("Rule"), gettext_noop("Reference"), gettext_noop("Downstream reference"),
    gettext_noop("Order id"), gettext_noop("Amount minor"), gettext_noop("Currency"), gettext_noop("Policy version"),
    gettext_noop("Session id"), gettext_noop("Credential id"), gettext_noop("Idempotency key"), gettext_noop("Model"),
    gettext_noop("Prompt hash"), gettext_noop("Schema hash"), gettext_noop("Provider request id"),
    gettext_noop("Latency ms"), gettext_noop("Build"), gettext_noop("Detail hash"), gettext_noop("Actor"),
    gettext_noop("Customer"), gettext_noop("Conversation"), gettext_noop("From"), gettext_noop("To"),
    # What the policy saw.
    gettext_noop("Customer day minor"), gettext_noop("Customer month minor"), gettext_noop("Order day minor"),
    gettext_noop("Order month minor"), gettext_noop("Method day minor"), gettext_noop("Method month minor"),
    gettext_noop("Conversation day minor"), gettext_noop("Conversation month minor"), gettext_noop("Reason"),
    gettext_noop("Order status"), gettext_noop("Repeats"), gettext_noop("Pays unproven method"),
    gettext_noop("On the way"), gettext_noop("Untrusted text"), gettext_noop("Sign in minutes"),
    gettext_noop("Sign in methods"), gettext_noop("Open requests"), gettext_noop("Open requests site"),
    gettext_noop("Denied reference"),
    # Fields of a plan and of what it changes.
    gettext_noop("Summary"), gettext_noop("Done"), gettext_noop("Status"), gettext_noop("Status before"),
    gettext_noop("Order value minor"), gettext_noop("Movements"), gettext_noop("Promised"),
    gettext_noop("Order before"), gettext_noop("Order changes"), gettext_noop("Customer before"),
    gettext_noop("Customer changes"), gettext_noop("Payment method id"), gettext_noop("Method kind"),
    gettext_noop("Label"), gettext_noop("Paid before"), gettext_noop("Address"), gettext_noop("Items"),
    gettext_noop("Item id"), gettext_noop("Product id"), gettext_noop("Name"), gettext_noop("Options"),
    gettext_noop("Price minor"), gettext_noop("Cancel reason"), gettext_noop("Note"), gettext_noop("Description"),
    gettext_noop("Line1"), gettext_noop("Line2"), gettext_noop("City"), gettext_noop("State"),
    gettext_noop("Postal code"), gettext_noop("Country"), gettext_noop("Region"), gettext_noop("Returning"),
    gettext_noop("Exchanging"), gettext_noop("Item ids"), gettext_noop("New item ids"),
    gettext_noop("Price difference minor"),
    # Money of an order.
    gettext_noop("Capture"), gettext_noop("Refund"), gettext_noop("Opening"), gettext_noop("Reversal"),
    gettext_noop("External refund"), gettext_noop("Dispute"), gettext_noop("Dispute won"), gettext_noop("Card"),
    gettext_noop("Paypal"), gettext_noop("Gift card"),
    # Where the books and the provider disagree.
    gettext_noop("Amount"), gettext_noop("Failed here"), gettext_noop("Orphan"), gettext_noop("Missing"),
    gettext_noop("Other provider"),
    # Tools that need no name of their own on pages.
    gettext_noop("Calculator"), gettext_noop("Get my profile"), gettext_noop("Get order"), gettext_noop("Get product"),
    gettext_noop("Get refund policy"), gettext_noop("Hand off to human"), gettext_noop("List my orders"),
    gettext_noop("List my requests"), gettext_noop("List products"), gettext_noop("Read help article"),
    gettext_noop("Search help"), gettext_noop("Withdraw request"),
    # Rules that refuse, beside those that have a sentence of their own.
    gettext_noop("Arguments"), gettext_noop("Balance"), gettext_noop("Frozen"), gettext_noop("Not found"),
    gettext_noop("Open request"), gettext_noop("Payment method"), gettext_noop("Tools"), gettext_noop("Variants"),
    gettext_noop("Unknown tool"), gettext_noop("Fault"), gettext_noop("Unconfirmed"), gettext_noop("No money"),
    gettext_noop("Within lines"), gettext_noop("Denied before"), gettext_noop("Tool never"),
    gettext_noop("Too many open"), gettext_noop("Too many open site"),
)  # fmt: skip
