"""The data source of a script: its offsets, its files, and the tasks that read them."""
