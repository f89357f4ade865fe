"""Pictures: the same bytes for the same input (no date, fixed ids), readable without colour vision."""
