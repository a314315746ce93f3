"""Learning the rank of a beam: samples from its own levels, weights fitted to them, round by round."""

PACKAGE, NOTHING = "package", "nothing"  # what learning may begin with, besides the rank of a file
