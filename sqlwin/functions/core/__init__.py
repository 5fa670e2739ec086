"""What all rooms share: types, constants, signatures, entries of the table, vectors."""
