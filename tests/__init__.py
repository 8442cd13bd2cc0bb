"""Tests, in one folder per room of the package; ``support`` holds what several of them share."""
