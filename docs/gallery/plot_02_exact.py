"""
The exact machine, and what it looks at
=======================================

An SVM in the plane: its boundary, and the support vectors that every answer compares with.
"""

from sklearn.svm import SVC

import kmviz

data = kmviz.datasets.load("banana")
svc = SVC(C=10, gamma=0.5).fit(data.X_train, data.y_train)
machine = kmviz.KernelMachine.from_estimator(svc)
kmviz.plot(machine)
