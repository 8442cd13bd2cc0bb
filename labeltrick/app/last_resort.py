"""Handling of unexpected errors and of too little memory in the command line."""

from __future__ import annotations

import tempfile
import traceback

UNEXPECTED = 3  # exit code
_LEAST_ADDRESS_SPACE = 2 * 1024**3
_NO_MEMORY = ("can't allocate memory", "not enough memory", "std::bad_alloc", "out of memory")


def trace_line(error: BaseException) -> str:
    """Write the traceback to a file, and return a line that names the file."""
    first = next(iter(str(error).splitlines()), "")
    what = f"{type(error).__name__}: {first}"[:300]
    text = "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="labeltrick-error-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
        where = f"The traceback is in '{file.name}'; please report it"
    except (OSError, UnicodeError) as failed:
        where = f"The traceback could not be written ({failed})"
    return f"unexpected error, a bug in labeltrick: {what}. {where}"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error of any library means that there is no memory left."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(text in str(error) for text in _NO_MEMORY)
    )


def require_address_space() -> None:
    """Raise an error for a limit that makes libraries in Rust and C++ end the process silently."""
    try:
        import resource
    except ImportError:  # not a Unix system: there are no such limits
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < _LEAST_ADDRESS_SPACE:
        raise MemoryError(
            f"labeltrick needs at least {_LEAST_ADDRESS_SPACE / 1024**3:.0f} GiB of address space; "
            f"the limit is {limit / 1024**3:.1f} GiB. Raise it with: ulimit -v unlimited"
        )
