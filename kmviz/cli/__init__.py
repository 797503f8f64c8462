"""The command line: `python -m kmviz app | data | fit | predict | ...`.

Results go to standard output, progress and messages to standard error. Exit codes: 0 done;
1 something failed that was not the user's input; 2 bad input, said in one
line; 130 and 143 interrupted (Ctrl-C, SIGTERM), with nothing half-written left behind.
"""
