"""Files: estimators stored and loaded, classifiers that read tables, files written whole."""
