"""
Effort follows difficulty
=========================

What each query took, and where in the plane queries take most.
"""

from sklearn.svm import SVC

import kmviz

data = kmviz.datasets.load("banana")
clf = kmviz.NSVClassifier(SVC(C=0.3, gamma=2), linear_filter=False, random_state=0)
clf.fit(data.X_train, data.y_train)
study = clf.study(data.X_test[:1000])
kmviz.plot(study, "effort")

# %%
kmviz.plot(study, "effort_map")
