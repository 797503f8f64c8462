"""
Sixteen vectors for a board of sixteen fields
=============================================

The machine keeps hundreds of vectors; one for each field says nearly the same.
"""

from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

import kmviz

data = kmviz.datasets.load("checkerboard", noise=0)
svc = SVC(C=1, gamma=2).fit(data.X_train, data.y_train)
clf = kmviz.ReducedSetClassifier(FrozenEstimator(svc), n_vectors=16, random_state=0)
clf.fit(data.X_train)
kmviz.plot(clf.machine_)

# %%
# Vectors before and after, and both accuracies.

{
    "vectors": (clf.original_.n_vectors, clf.machine_.n_vectors),
    "accuracy": (svc.score(data.X_test, data.y_test), clf.score(data.X_test, data.y_test)),
}
