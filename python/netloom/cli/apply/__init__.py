"""`netloom apply`: new routes on a live fabric, safely."""
