"""Virtual lanes of a scheme for a real fabric: tables, service levels, what makes hosts use them."""
