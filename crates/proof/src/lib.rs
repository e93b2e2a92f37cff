//! Export, verify, compare, report: reads what a trial left.
