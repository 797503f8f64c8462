"""Kernel machines: the shared currency of every method."""

from kmviz.machines.certified import rounding_error
from kmviz.machines.embedding import KernelEmbedding
from kmviz.machines.fisher import KernelFisherClassifier
from kmviz.machines.machine import KernelMachine

__all__ = [
    "KernelEmbedding",
    "KernelFisherClassifier",
    "KernelMachine",
    "rounding_error",
]
