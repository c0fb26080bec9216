"""LangGraph's agent with its Postgres checkpointer, as its documentation says; with `approval`, its middleware too.

Tools answer a constant, so LangGraph is spared the ledger that ours reads and writes. One checkpointer holds a
lock around its database work, so every thread gets an agent and a checkpointer of its own over one pool.
"""

import os
import sys
import threading
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.types import Command
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from bench.bare import ORDER
from bench.contender import THREADS, definition, look_up, refund, serve, words

WRITES = ("issue_refund",)


def _tool(schema: dict[str, Any]) -> StructuredTool:
    return StructuredTool.from_function(
        func=lambda **_: ORDER,
        name=schema["name"],
        description=schema["description"],
        args_schema=schema["input_schema"],
    )


def main() -> None:
    """One pool for the process; `approval` pauses each refund and resumes it with an approving decision."""
    approval = sys.argv[1:] == ["approval"]
    options: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool = ConnectionPool(os.environ["LANGGRAPH_URL"], min_size=THREADS, max_size=THREADS, kwargs=options)
    PostgresSaver(pool).setup()
    frozen = definition()
    model = ChatAnthropic(model=frozen["model"], max_tokens=16_000, max_retries=0, timeout=60)
    tools = [_tool(schema) for schema in frozen["tools"]]
    middleware = [HumanInTheLoopMiddleware(interrupt_on=dict.fromkeys(WRITES, True))] if approval else []
    own = threading.local()

    def agent() -> Any:
        if not hasattr(own, "agent"):
            own.agent = create_agent(
                model, tools, system_prompt=frozen["system"], middleware=middleware, checkpointer=PostgresSaver(pool)
            )
        return own.agent

    def turn(number: int) -> None:
        thread = {"configurable": {"thread_id": f"{sys.argv[1:]}{number}"}}
        state = agent().invoke({"messages": [{"role": "user", "content": words(number)}]}, thread)
        if approval:
            assert state["__interrupt__"], state
            state = agent().invoke(Command(resume={"decisions": [{"type": "approve"}]}), thread)
        assert len(state["messages"]) == 4, state

    serve(turn, refund if approval else look_up)


if __name__ == "__main__":
    main()
