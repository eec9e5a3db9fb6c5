"""What scripts read of apex.amp's state after `initialize`."""


class LossScaler:
    _loss_scale = 1.0
    _overflow_buf = None

    def loss_scale(self):
        return 1.0

    def update_scale(self):
        return False


class Properties:
    master_weights = False
    loss_scale = 1.0


class AmpState:
    def __init__(self):
        self.loss_scalers = [LossScaler()]
        self.opt_properties = Properties()


_amp_state = AmpState()
