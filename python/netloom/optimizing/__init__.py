"""Routes made for a traffic, as `netloom optimize` does: searched, compared, judged, with their proof."""
