"""Methods side by side: the same boards, solved by several searches and heuristics."""
