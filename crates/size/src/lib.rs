//! Memory by part from model files, cards, plans, projections.
