"""What official scripts mostly do: the facts that many recipes share, by the names of `data/criteria/facts.toml`.

Each adapter says beside its recipes in which lines of the pinned commit it was read.
"""

SGD = {"optimiser": "sgd", "clipping": "none", "weight_decay": "L2", "parallel_layout": "DP"}  # with momentum
IMAGES = {**SGD, "input_size": "224"}
IMAGENET = {**IMAGES, "data": "imagenet"}
"""Classification of images of 224 pixels, copies of the model exchanging gradients; IMAGENET reads them from files."""
FACES = {**SGD, "input_size": "112"}
# Text is read from files that hold it tokenised, and mostly masked; which text, does not change the time of a step.
TEXT = {"weight_decay": "decoupled", "clipping": "1.0", "data": "text"}
ADAM = {**TEXT, "optimiser": "adam"}  # AdamW: how it decays weights is a fact of its own
LAMB = {**TEXT, "optimiser": "lamb"}
CLICKS = {"optimiser": "adam", "clipping": "none", "weight_decay": "none", "data": "criteo"}
"""Wide & Deep on Criteo's log of clicks."""
SPLIT_TABLES = "DP, embedding tables split"
SPLIT_CLASSIFIER = "DP, classifier split"
