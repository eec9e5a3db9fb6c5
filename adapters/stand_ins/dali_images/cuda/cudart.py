"""cuda.cudart; scripts pin memory with it for inference alone."""
