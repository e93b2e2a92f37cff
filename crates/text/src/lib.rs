//! Every word that people read, in English, French and Japanese.
