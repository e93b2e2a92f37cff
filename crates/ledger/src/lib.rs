//! What happened to each item: checksummed entries, takeover, seals, recovery.
