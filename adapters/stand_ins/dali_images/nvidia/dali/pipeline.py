"""nvidia.dali.pipeline"""

import random


class Pipeline:
    """*readers* by name, once the graph has been worked through."""

    current = None

    def __init__(self, batch_size=1, num_threads=1, device_id=0, seed=0, **kwargs):
        self.batch_size, self.random, self.readers = batch_size, random.Random(seed), {}

    def build(self):
        self._ready = self._work()

    def run(self):
        outputs, self._ready = self._ready or self._work(), None
        return outputs

    def epoch_size(self, name):
        return len(self.readers[name].files)

    def _work(self):
        Pipeline.current = self
        return self.define_graph()
