"""What the Python scripts share as commands: modules, bad input, exit status, output files."""
import importlib
import os
import pathlib
import sys

SYSTEM_PYTHON = "/usr/bin/python3"


class BadInput(Exception):
    """The message says which file or option is wrong, and how."""


def complain(message):
    name = pathlib.Path(sys.argv[0]).name
    print(f"scripts/{name}: {message}", file=sys.stderr)
    sys.exit(2)


def require(*modules):
    """Ends with one line if a module is missing. To be called before anything imports it."""
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError:
            # Debian's packages belong to its own Python; another one may come first in PATH.
            if sys.executable != SYSTEM_PYTHON and os.path.exists(SYSTEM_PYTHON):
                os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON] + sys.argv)
            complain(f"the Python module {module} is missing; to install it: "
                     f"apt-get install python3-{module} (or pip install {module})")


def run(main):
    """Ends the program with main's exit status, or with 2 and one line for bad input."""
    try:
        status = main()
        sys.stdout.flush()
    except BadInput as error:
        complain(error)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    sys.exit(status)


def write(path, content):
    """Writes text or bytes, to the terminal without a path. The file appears only when complete."""
    if path is None:
        sys.stdout.write(content)
        return
    data = content.encode() if isinstance(content, str) else content
    part = pathlib.Path(f"{path}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BadInput(f"{path}: {error.strerror}") from error
