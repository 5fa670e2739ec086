"""The commands of `sqlwin`, a module each: `run(arguments)` gives the exit code.

They are imported by need, so that a command waits for nothing that it does not use.
"""
