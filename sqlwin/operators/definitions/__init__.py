"""What windows there are, by definition: each plan node over a plain list of rows.

`groups` and `overs` give a reference operator its windows, `ranks` orders those of a
group window among each other, `topn` is an operator of its own, since its rows have
no window. Rows are in the order they were taken, which numbers the messages of a
tuple window.
"""
