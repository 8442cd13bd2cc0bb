"""Whole stories: files as people have them, the wrong turn that they tempt to, and the result."""
