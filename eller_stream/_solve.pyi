from .solve.steps import CorridorMeter, Searcher, Sweeper, Tracer

sweep: Sweeper
trace: Tracer
search: Searcher
corridors: CorridorMeter
