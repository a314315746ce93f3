"""Faults drawn at random, and four rules that hold whatever happens: ``make chaos``.

Tests of single faults find the faults that somebody thought of. This harness draws them: command lines from the parsers
themselves, boards from a grammar, kills at any moment, full and read-only disks, damaged files, strange surroundings,
several commands at once. Each *trial* works in a sandbox of its own, starts the programs as a user does, and is judged
by the same rules as every other:

1. *ends*: every command ends, soon after a signal, and never with a traceback or a crash;
2. *exit code*: as the guide documents it, and exit code 2 comes with one line that says why;
3. *files*: nothing changes but what the command was to write, and that is complete or still the previous one;
4. *answers*: what is called proven is right by an independent search, and moves lead to the goal.

A fault that does nothing proves nothing, so every trial says whether its fault *had an effect*: a process was stopped
before its end, a file was changed that is read later, a disk did become full. A kind of trial that never has one is a
failure of the harness.

A trial takes all its choices from one random number generator, seeded with the seed of the run and the number of the
trial: so ``--seed 7 --only 42`` repeats a trial, up to the moments at which processes happen to be where they are.

    __main__     the command line
    session      runs trials until the time is up, and reports
    trial        a trial, and the table of their kinds
    inputs, kills, damage, places, crowds    the kinds, by what goes wrong
    options, grammar    command lines and texts of boards to draw from
    commands, sandbox   processes, and the folders they work in
    rules, answers, truth    the rules; what answers say; what is true
"""
