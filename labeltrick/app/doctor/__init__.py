"""What ``labeltrick doctor`` does: describes the installation, tests it, and compiles kernels."""
