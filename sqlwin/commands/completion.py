"""`sqlwin completion`: what a shell needs to complete the command line."""

from __future__ import annotations

import argparse

from argcomplete.shell_integration import shellcode

HOW = {
    "bash": 'eval "$(sqlwin completion bash)", in ~/.bashrc',
    "zsh": 'eval "$(sqlwin completion zsh)", in ~/.zshrc, after compinit',
    "fish": "sqlwin completion fish | source, in ~/.config/fish/config.fish",
}


def run(arguments: argparse.Namespace) -> int:
    print(f"# {HOW[arguments.shell]}")
    print(shellcode(["sqlwin"], shell=arguments.shell))
    return 0
