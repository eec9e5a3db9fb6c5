"""nvidia.dali.plugin"""
