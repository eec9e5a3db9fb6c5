"""nvidia.dali.fn, which scripts import; its synthetic inputs serve inference alone."""
