"""Django's settings: one file, fed by the typed environment of `config.env`."""

import os
from pathlib import Path

from csp.constants import NONE, SELF
from psycopg.conninfo import conninfo_to_dict

from config.env import load

BASE_DIR = Path(__file__).resolve().parent.parent
ENV = load(os.environ)

SECRET_KEY = ENV.secret_key
DEBUG = False
ALLOWED_HOSTS = list(ENV.hosts)
INSTALLED_APPS = [
    "config",
    "run",
    "demo",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "base",
    "audit",
    "ledger",
    "approvals",
    "agents",
    "console",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "config.languages.PagesInTheReadersLanguage",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "console.sign_in.middleware.second_factor_where_required",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "builtins": ["django.templatetags.static", "django.templatetags.i18n"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
            ],
            "libraries": {"money": "base.templatetags.money"},
        },
    }
]


def _database(url: str, **options: object) -> dict[str, object]:
    parts = {str(key): str(value) for key, value in conninfo_to_dict(url).items()}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.pop("dbname", ""),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": parts.pop("port", ""),
        "OPTIONS": {**parts, **options},
    }


# A pool, because a turn gives its connection back before every model call.
# It stops trying to connect early and begins afresh at the next use, or its pauses outlast a restart of Postgres.
_POOL = {"min_size": 0, "max_size": 12, "timeout": 5, "max_idle": 60, "reconnect_timeout": 2}
# A process that was frozen within a transaction must not hold its locks for longer than others wait for its turns.
_NEVER_IDLE = f"-c idle_in_transaction_session_timeout={2 * ENV.lease_seconds}s"
DATABASES: dict[str, dict[str, object]] = {}
if ENV.database_url:
    # Prepared once per connection: planning the same statements again took as long as running them.
    _PREPARED = {"server_side_binding": True, "prepare_threshold": 3}
    DATABASES["default"] = _database(ENV.database_url, pool=_POOL, options=_NEVER_IDLE, **_PREPARED)
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
if ENV.database_owner_url:
    DATABASES["owner"] = _database(ENV.database_owner_url)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "approvals.Staff"
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
# How staff sign in: allauth's machinery under pages of our own. Nobody signs up, and no e-mail resets anything.
ACCOUNT_ADAPTER = "console.sign_in.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_RATE_LIMITS = False  # console.sign_in.throttle counts attempts, atomically and before they are tried
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
MFA_ADAPTER = "console.sign_in.adapters.MfaAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_USER_VERIFICATION = "required"
MFA_TOTP_ISSUER = "Placet"
MFA_TOTP_TOLERANCE = 1
MFA_FORMS = {
    "add_webauthn": "console.sign_in.forms.AddPasskey",
    "authenticate": "console.sign_in.forms.SecondStep",
    "reauthenticate": "console.sign_in.forms.ConfirmByCode",
    "activate_totp": "console.sign_in.forms.ActivateCodes",
}
MFA_RATE_LIMITS = False
SOCIALACCOUNT_ADAPTER = "console.sign_in.adapters.SocialAdapter"
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_LOGIN_ON_GET = True  # a form that is redirected elsewhere would break form-action
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": ENV.staff.oidc_apps, "OAUTH_PKCE_ENABLED": True}}
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "console"
LOGOUT_REDIRECT_URL = "sign-in"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
# `__Host-` cookies need HTTPS; browsers treat plain loopback, the demo, differently.
_HTTPS = not ENV.demo
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if _HTTPS else "http"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _HTTPS
SESSION_COOKIE_NAME = "__Host-placet" if _HTTPS else "placet"
CSRF_COOKIE_NAME = "__Host-placet-csrf" if _HTTPS else "placet-csrf"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "config.views.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

LANGUAGE_CODE = "en-gb"
LANGUAGES = [("en-gb", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_SECURE = _HTTPS
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True
STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
DATA_UPLOAD_MAX_MEMORY_SIZE = 256_000

# In Postgres, which every process shares and without which nobody signs in anyway: codes that were used, above all.
# Never so few entries that a stranger could push them out.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "console_cacheentry",
        "OPTIONS": {"MAX_ENTRIES": 1_000_000},
    }
}

REDIS_URL = ENV.redis_url or "redis://127.0.0.1:1/0"
CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_timeout": 1,
    "socket_connect_timeout": 1,
    "visibility_timeout": 3600,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # meanwhile workers find their work in the database
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "agents.tasks.sweep", "schedule": 2.0, "options": {"expires": 4}},
    "reconcile": {"task": "ledger.tasks.reconcile", "schedule": 3600.0, "options": {"expires": 3600}},
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "approvals.people.authentication.StaffTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["base.http.parsing.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "base.http.errors.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Placet",
    "DESCRIPTION": "Chat API for customers (bearer widget token) and staff API (session or bearer token).",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "config.logs.JsonFormatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "celery": {"level": "WARNING"},
        "fido2": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "django.request": {"level": "ERROR"},
    },
}

# What no policy document may loosen, in minor units, hours and requests; checked when one is proposed and when it
# is used. `POLICY_TOOLS` gives the names of the writes that a document may speak of.
POLICY_CEILINGS = {
    "automatic_day": 20_000,
    "automatic_month": 100_000,
    "two_people_day": 200_000,
    "most_open_requests": 20,
    "most_open_requests_site": 10_000,
    "expires_hours": 14 * 24,
    "execute_hours": 72,
}
POLICY_TOOLS = "agents.tools.registry.policy_tools"

_SMTP = ENV.notify.smtp
EMAIL_TIMEOUT = 10
if _SMTP:
    EMAIL_HOST, EMAIL_PORT = _SMTP.host, _SMTP.port
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _SMTP.user, _SMTP.password
    EMAIL_USE_SSL, EMAIL_USE_TLS = _SMTP.security == "tls", _SMTP.security == "starttls"
    DEFAULT_FROM_EMAIL = _SMTP.sender

# What Placet's own code reads.
PLACET = ENV
