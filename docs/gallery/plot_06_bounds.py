"""
An interval that closes on f(x)
===============================

Certified: once the interval excludes 0, no kernel value that is missing can change the class.
"""

from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

import kmviz

data = kmviz.datasets.load("banana")
svc = SVC(C=10, gamma=0.5).fit(data.X_train, data.y_train)
clf = kmviz.AnytimeClassifier(FrozenEstimator(svc)).fit(data.X_train)
kmviz.plot(clf.trace(data.X_test[0]))

# %%
# What is known of the first five queries after six kernel values.

clf.decision_interval(data.X_test[:5], 6)
