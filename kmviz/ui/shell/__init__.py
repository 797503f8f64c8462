"""What stands around every page: the URL, the controls, the menu."""
