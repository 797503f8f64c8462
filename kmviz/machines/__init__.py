"""Kernel machines: the shared currency of every method."""

from kmviz.machines.fisher import KernelFisherClassifier
from kmviz.machines.machine import KernelMachine

__all__ = ["KernelFisherClassifier", "KernelMachine"]
