"""
Reading a study under many windows
==================================

A study computes once what every window has in common: nothing is fitted again.
"""

import pandas as pd
from sklearn.svm import SVC

import kmviz

data = kmviz.datasets.load("banana")
clf = kmviz.NSVClassifier(SVC(C=0.3, gamma=2), linear_filter=False, random_state=0)
study = clf.fit(data.X_train, data.y_train).study(data.X_test)
frames = study.frames("window", [0, 2, 10, 50])
pd.DataFrame(
    {
        "window": frames.values,
        "mean steps": frames.steps.mean(axis=1),
        "answers that differ": (~frames.agrees).sum(axis=1),
    }
)
