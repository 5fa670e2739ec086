"""Timelines: what a query took in and emitted, batch by batch, as data and as a chart.

`recording` is the data, which every picture reads; `recorder` makes it of the rows of a run,
`replays` of a query or a golden, `files` reads and writes it. `selection` cuts what is too much to
draw. `marks` and `chart` draw it by Vega-Lite, `page` puts that into one HTML file, `live` serves
it while a run goes on. Altair and vl-convert are imported where a chart is made, and only there.
"""
