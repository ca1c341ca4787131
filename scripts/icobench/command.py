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
            package = {"elftools": "pyelftools"}.get(module, module)
            complain(f"the Python module {module} is missing; to install it: "
                     f"apt-get install python3-{package} (or pip install {package})")


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
    except OSError as error:  # those of files are BadInput
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        complain(f"cannot write the output: {error.strerror}")
    sys.exit(status)


def is_argument_twice(path):
    """Whether the command line names this file, which exists, for something else, too."""
    words = [word.partition("=")[2] if word.startswith("--") else word for word in sys.argv[1:]]
    return sum(os.path.exists(word) and os.path.samefile(word, path) for word in words) > 1


def write(path, content):
    """Writes text or bytes, to the terminal without a path. The file appears only when complete."""
    if path is None:
        sys.stdout.write(content)
        return
    data = content.encode() if isinstance(content, str) else content
    path = pathlib.Path(path)
    part = pathlib.Path(f"{path.resolve()}.part")
    try:
        if path.exists() and is_argument_twice(path):
            raise BadInput(f"{path}: is an input, too, and would be lost")
        if path.exists() and not path.is_file() and not path.is_dir():  # a device or a pipe
            path.write_bytes(data)
            return
        part.write_bytes(data)
        part.replace(path.resolve())
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BadInput(f"{path}: {error.strerror}") from error
