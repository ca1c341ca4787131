"""What the Python scripts share as commands: modules, bad input, exit status, files, terminal."""
import contextlib
import importlib
import os
import pathlib
import re
import secrets
import signal
import stat
import sys

SYSTEM_PYTHON = "/usr/bin/python3"
MOST_BYTES, MOST_SHOWN = 2 ** 28, 2000
# Those that steer terminals, or the order of what is read: ESC, NUL, ... but no ends of lines.
CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")

for stream in (sys.stdout, sys.stderr):  # whatever the terminal cannot show
    stream.reconfigure(errors="replace")


class BadInput(Exception):
    """The message says which file or option is wrong, and how."""


def end(number, _):
    sys.exit(128 + number)  # where files are put in order


for number in (signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(number) == signal.SIG_DFL:
        signal.signal(number, end)


def printable(text, most=None):
    """Without control characters, cut after `most` characters."""
    text = CONTROLS.sub("\ufffd", text)
    return text if most is None or len(text) <= most else text[:most] + "…"


def complain(message):
    name = pathlib.Path(sys.argv[0]).name
    print(f"scripts/{name}: {printable(str(message), MOST_SHOWN)}", file=sys.stderr)
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
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
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


def read_text(path):
    """Of a regular file of at most 256 MiB: a pipe would wait, a device may never end."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise BadInput(f"{path}: is no regular file")
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise BadInput(f"{path}: is larger than 256 MiB")
        return data.decode()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: no text in UTF-8") from error


def check_replaceable(path):
    """The rule of grids/output_file.hpp: what may not be written, or is no file, is not replaced."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise BadInput(f"{path}: is no regular file, and is not replaced")
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except FileNotFoundError:
        return
    if is_argument_twice(path):
        raise BadInput(f"{path}: is an input, too, and would be lost")


@contextlib.contextmanager
def replacement(path):
    """A new file beside the one it is to replace, removed on every way out but the right one."""
    target = pathlib.Path(os.path.realpath(path))
    part = target.parent / f".icobench-{secrets.token_hex(8)}"
    try:
        exclusive = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(part, exclusive, 0o666), "wb") as file:
            if target.exists():
                os.fchmod(file.fileno(), target.stat().st_mode & 0o777)
            yield file
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write(path, content):
    """Writes text or bytes, to the terminal without a path. The file appears only when complete."""
    if path is None:
        sys.stdout.write(printable(content))
        return
    try:
        check_replaceable(path)
        with replacement(path) as file:
            file.write(content.encode(errors="replace") if isinstance(content, str) else content)
    except OSError as error:
        reason = error.strerror
        if isinstance(error, FileNotFoundError):
            reason = f"there is no folder {pathlib.Path(path).parent}"
        raise BadInput(f"{path}: cannot be written: {reason}") from error
