"""The HTTP API: takes commands in, shows what a caller may know, and decides nothing."""

from services.api.app import create_app
from services.api.program import app_of, run

__all__ = ["app_of", "create_app", "run"]
