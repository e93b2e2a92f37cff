# The report: report.html and what the proof says of a trial.
