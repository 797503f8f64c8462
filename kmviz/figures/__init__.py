"""Records, tables and arrays in, plotly figures out; one family a file, one theme."""
