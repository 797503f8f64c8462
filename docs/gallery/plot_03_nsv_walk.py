"""
A query's walk among its nearest support vectors
================================================

The sum grows, nearest support vectors first, until it leaves the band.
"""

from sklearn.svm import SVC

import kmviz

data = kmviz.datasets.load("banana")
clf = kmviz.NSVClassifier(SVC(C=0.3, gamma=2), linear_filter=False, random_state=0)
clf.fit(data.X_train, data.y_train)
trace = clf.trace(data.X_test[4])
kmviz.plot(trace)

# %%
# The same as a table: one row for each step.

trace.to_frame().head(8)
