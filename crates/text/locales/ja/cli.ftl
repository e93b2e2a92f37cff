# The command line: summaries, questions and refusals of the program pilote.
