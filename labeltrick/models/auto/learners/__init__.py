"""The learners of `AutoModel`, one file each: what they suit, what they cost, how they learn and
predict. `protocol` says what a learner must provide; `registry` lists them. A new learner is a file
here and a line there."""
