"""Facts that many official scripts share (`data/criteria/facts.toml`); adapters cite the lines at their recipes."""

SGD = {"optimiser": "sgd", "clipping": "none", "weight_decay": "L2", "parallel_layout": "DP"}  # with momentum
IMAGES = {**SGD, "input_size": "224"}
IMAGENET = {**IMAGES, "data": "imagenet"}
"""Classification of images of 224 pixels, copies of the model exchanging gradients; IMAGENET reads them from files."""
FACES = {**SGD, "input_size": "112"}
# files of tokenised, mostly masked text; the text does not change the time
TEXT = {"weight_decay": "decoupled", "clipping": "1.0", "data": "text"}
ADAM = {**TEXT, "optimiser": "adam"}  # AdamW: the decay is another fact
LAMB = {**TEXT, "optimiser": "lamb"}
CLICKS = {"optimiser": "adam", "clipping": "none", "weight_decay": "none", "data": "criteo"}
"""Wide & Deep on Criteo's log of clicks."""
HOROVOD_ON_GPUS = {"HOROVOD_GPU_OPERATIONS": "NCCL"}
"""Of Horovod's build. Without it gradients go over MPI or Gloo, through the host's memory (install.rst:166)."""
SPLIT_TABLES = "DP, embedding tables split"
SPLIT_CLASSIFIER = "DP, classifier split"
