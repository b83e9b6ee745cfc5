# Help comes from the tables of options.
zellige --help
zellige cat --help
zellige help attrs
zellige --version | head -n 1
