"""A server that speaks the Messages API, for demos, tests and benchmarks; it stands on its own."""
