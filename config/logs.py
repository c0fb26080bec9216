"""Log lines as JSON, one per line: control and bidirectional characters arrive escaped."""

import json
import logging
from datetime import UTC, datetime


class JsonFormatter(logging.Formatter):
    """Level, logger, message and, for faults, the traceback, which stays in the log."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True)
