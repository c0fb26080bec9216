"""What `make run` runs: all set-up, then the product under one supervisor, until Ctrl-C."""

import http.client
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from base.home import HomeError, lock_home, make_home, process_birth, read_running, write_private
from config.env import Env, EnvError, load
from run import roles, setup
from run.processes import ProcessError, Steps, die_with_parent
from run.servers import port_is_free
from run.supervisor import Supervisor

HEALTH_SECONDS = 60.0
DEMO_MODEL = "demo model: answers are scripted; set ANTHROPIC_API_KEY for Claude"
_WORKER_STEPS: Steps = ((signal.SIGTERM, 20.0), (signal.SIGQUIT, 5.0))


def main() -> int:
    """Run until a signal asks to stop. Gives the exit code; what went wrong is one sentence on stderr."""
    if "MAKELEVEL" in os.environ:
        die_with_parent(signal.SIGTERM)  # kill -9 of make ends the product too
    # SIGINT too: a shell's background job starts with it ignored.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    environ = {"PLACET_DEMO": "1", **os.environ}
    try:
        with _only_run(load(environ)):
            _serve(load(environ))  # again: what a run that died meanwhile left behind is gone now
    except KeyboardInterrupt:
        return 0
    except (EnvError, HomeError, ProcessError, roles.RolesError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    print(text, flush=True)


@contextmanager
def _only_run(env: Env) -> Iterator[None]:
    make_home(env.home)
    lock = lock_home(env.home)
    if lock is None:
        where = read_running(env.home).get("url", "it is just starting or stopping")
        raise HomeError(f"Placet already runs from {env.home} ({where}): stop it first, or use it.")
    with lock:
        running = env.home / "running.json"
        running.unlink(missing_ok=True)
        try:
            yield
        finally:
            running.unlink(missing_ok=True)


def _serve(env: Env) -> None:
    _check_port(env.port)
    supervisor = Supervisor(_say)
    try:
        env = setup.start_servers(env, supervisor, _say)
        env, scripted = setup.start_model(env, supervisor, _say)
        env = setup.start_payments(env, supervisor, _say)
        _write_running(env)
        sign_ins = setup.prepare_data(env, _say)
        _start_product(env, supervisor)
        supervisor.wait_until(lambda: _healthy(env), HEALTH_SECONDS)
        _announce(env, sign_ins, scripted=scripted)
        supervisor.watch()
    except KeyboardInterrupt:
        _say("Stopping ...")
    finally:
        supervisor.stop()


def _check_port(port: int) -> None:
    try:
        free = port_is_free(port)
    except PermissionError as error:
        raise HomeError(f"PORT {port} is reserved for root: take another one, such as make run PORT=8000.") from error
    if not free:
        other = port + 1 if port < 65535 else 8001
        raise HomeError(
            f"PORT {port} is in use by another program: "
            f"stop that one or take another port, such as make run PORT={other}."
        )


def _start_product(env: Env, supervisor: Supervisor) -> None:
    _say("Starting web, worker and beat ...")
    celery = ["celery", "-A", "config"]
    web = ["uvicorn", "config.asgi:application", "--host", "127.0.0.1", "--port", str(env.port)]
    # No proxy headers: X-Forwarded-For must not be able to say who somebody is.
    web += ["--timeout-graceful-shutdown", "5", "--no-proxy-headers", "--no-server-header", "--no-access-log"]
    worker = [*celery, "worker", "-P", "threads", "-c", str(env.worker_threads), "--prefetch-multiplier", "1"]
    worker += ["--without-gossip", "--without-mingle", "-l", "INFO"]
    beat = [*celery, "beat", "--schedule", str(env.home / "beat"), "--pidfile="]
    supervisor.start(setup.python_child(env, "worker", worker, _WORKER_STEPS))
    supervisor.start(setup.python_child(env, "beat", beat))
    supervisor.start(setup.python_child(env, "web", web))


def _healthy(env: Env) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", env.port, timeout=5)
    try:
        connection.request("GET", "/healthz", headers={"Host": env.hosts[0]})
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def _write_running(env: Env) -> None:
    pid = str(os.getpid())
    values = {
        "pid": pid,
        "birth": process_birth(pid),
        "url": _url(env),
        "database_url": env.database_url,
        "database_owner_url": env.database_owner_url,
        "redis_url": env.redis_url,
        "anthropic_base_url": env.anthropic_base_url,
        "placet_payments_url": env.payments_url,
        "placet_payments_secret": env.payments_secret,
    }
    write_private(env.home / "running.json", values)


def _url(env: Env) -> str:
    return f"http://localhost:{env.port}"


def _announce(env: Env, sign_ins: str, *, scripted: bool) -> None:
    url = _url(env)
    _say("\nPlacet is ready.\n")
    for name, path in (("Demo shop", "/"), ("Console", "/console/"), ("Audit", "/audit/"), ("API", "/api/docs/")):
        _say(f"  {name:9}  {url}{path}")
    _say("")
    _say(sign_ins)
    if scripted:
        _say(DEMO_MODEL)
    _say(f"Logs are in {env.home / 'logs'}. Ctrl-C stops everything.")


if __name__ == "__main__":
    sys.exit(main())
