"""`netloom infer`."""
