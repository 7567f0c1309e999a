"""One self-contained HTML page about results: what they come to, plots of why, and what differs between them."""
