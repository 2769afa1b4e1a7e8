from .solve.steps import Searcher, Sweeper, Tracer

sweep: Sweeper
trace: Tracer
search: Searcher
