"""Methods compared on the same boards: running them, checking that they agree, saving, tables and pictures."""
