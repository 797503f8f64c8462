"""
Which one on this data?
=======================

Every method beside the machine, on the same rows, in one run.
"""

from sklearn.svm import SVC

import kmviz

data = kmviz.datasets.load("banana")
table = kmviz.compare(
    SVC(C=10, gamma=0.5), data.X_train, data.y_train, data.X_test[:1000], data.y_test[:1000],
    methods=["exact", "nsv", "anytime", "reduced_5", "svtree_path", "falk_100"],
)  # fmt: skip
kmviz.plot(table)

# %%
table[["accuracy", "disagreements", "steps_mean", "batch_ratio", "single_ratio"]].round(3)
