"""What estimators that were read from a file do if the file was damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class FromFile:
    """Base of estimators, whose errors name the file that they were read from."""

    @contextmanager
    def _suspecting_its_file(self) -> Iterator[None]:
        """Explain errors of a model that was read from a damaged file.

        Its parts may not fit together, which no check of single parts can find.
        """
        try:
            yield
        except (ValueError, TypeError, ImportError, OSError):
            raise
        except Exception as error:
            file = getattr(self, "_cache", {}).get("file")
            if file is None:
                raise
            reason = next(iter(str(error).splitlines()), "")[:200]
            raise ValueError(
                f"the model in `{file}` must be as save_model wrote it; it cannot be used "
                f"({type(error).__name__}: {reason}). Copy it again, or fit again."
            ) from error
