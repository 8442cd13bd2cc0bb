"""Runs of the command line: settings, fits, scores, and the folder that holds them."""
