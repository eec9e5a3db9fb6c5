"""The names of NVIDIA DALI that scripts import whatever data they train on; no pipeline can be made."""
