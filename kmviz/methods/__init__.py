"""The methods: one paper a file (or a folder, where a paper is several algorithms)."""
