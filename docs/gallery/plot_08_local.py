"""
Local machines on two spirals
=============================

Near any point the spiral is nearly straight, and a small SVM is enough.
"""

import kmviz

data = kmviz.datasets.load("two_spirals", noise=0)
clf = kmviz.FaLKClassifier(n_neighbors=20, C=10, gamma=10.0, random_state=0)
clf.fit(data.X_train, data.y_train)
{
    "accuracy": clf.score(data.X_test, data.y_test),
    "local models": len(clf.models_),
    "kernel values per query": float(clf.steps(data.X_test).mean()),
}

# %%
# One query: the centre that answers it, and the few vectors it asks.

clf.trace(data.X_test[0])
