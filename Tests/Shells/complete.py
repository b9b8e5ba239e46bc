# SPDX-License-Identifier: Apache-2.0
"""Types command lines with TAB keys into an interactive shell, and prints the words that the shell made of each.

    complete.py bash|zsh SCRIPT FOLDER LINE...

The shell has sourced SCRIPT and is in FOLDER. `worker` is a function that prints its arguments.
"""

import os
import pty
import select
import sys
import tempfile

shell, script, folder, *lines = sys.argv[1:]

START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
SETUP = {
    "bash": "PS1=''; bind 'set enable-bracketed-paste off'; set +o history\n",
    "zsh": "PS1=''; unset zle_bracketed_paste; autoload -Uz compinit; compinit -u -D\n",
}


def expect(mark):
    """Reads the shell's output until the mark and the end of its line. Returns the text behind the mark."""
    text = b""
    while True:
        at = text.find(mark)
        if at >= 0 and b"\n" in text[at:]:
            return text[at + len(mark):].split(b"\n")[0].strip().decode()
        if not select.select([terminal], [], [], 20)[0]:
            sys.exit(f"{shell} wrote only {text!r}")
        try:
            text += os.read(terminal, 4096)
        except OSError:
            sys.exit(f"{shell} ended; it wrote {text!r}")


with tempfile.NamedTemporaryFile("w", suffix=".sh") as setup:
    setup.write(f"cd {folder}\n{SETUP[shell]}source {script}\n")
    setup.write("worker() { echo \"WORDS $*\"; }; echo READY\n")
    setup.flush()
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm", COLUMNS="200", LINES="50")
        os.execvp(START[shell][0], START[shell])
    os.write(terminal, f"source {setup.name}\n".encode())
    expect(b"READY")
    for line in lines:
        os.write(terminal, line.replace("<TAB>", "\t").encode() + b"\n")
        print(expect(b"WORDS"))
    os.close(terminal)
    os.waitpid(child, 0)
