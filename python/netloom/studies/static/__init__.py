"""Static routes by integer models, as table 3.2 of Taffet's dissertation has them."""
