"""Learning the rank of a beam: samples from its own levels, weights fitted to them, round by round."""
