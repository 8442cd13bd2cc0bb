"""What estimators share: inputs and their checks, predictions, random draws, and the training of
weights.
"""
