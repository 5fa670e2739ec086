"""The files of a first project, which `sqlwin new` writes."""
