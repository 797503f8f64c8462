"""
Twenty questions
================

A tree asks one support vector at each fork; cutting it lower trains nothing.
"""

from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

import kmviz

data = kmviz.datasets.load("banana")
svc = SVC(C=1, gamma=1).fit(data.X_train, data.y_train)
clf = kmviz.SVTreeClassifier(FrozenEstimator(svc), split="exact", refit="path", max_height=12)
clf.fit(data.X_train)
kmviz.plot(clf.trace(data.X_test[0]))

# %%
# The share of answers that are the machine's own, by height.

study = clf.study(data.X_test)
{h: float(study.read(max_height=h).agrees.mean()) for h in (2, 4, 8, 12)}
