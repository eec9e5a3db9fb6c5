"""nvidia.dali.plugin.paddle"""

import numpy
import paddle


class DALIGenericIterator:
    """A step is a list with each pipeline's tensors by name."""

    def __init__(self, pipelines, output_map, reader_name=None, **kwargs):
        self.pipelines, self.names, self.reader, self.taken = pipelines, output_map, reader_name, 0

    def __len__(self):
        first = self.pipelines[0]
        return first.epoch_size(self.reader) // first.batch_size

    def __next__(self):
        if self.taken == len(self):
            raise StopIteration
        self.taken += 1
        return [dict(zip(self.names, map(_tensor, pipeline.run()))) for pipeline in self.pipelines]

    def reset(self):
        self.taken = 0


def _tensor(batch):
    tensor = paddle.base.core.LoDTensor()
    tensor.set(numpy.stack(batch), paddle.CPUPlace())
    return tensor
