"""Wrong inputs and faults of our own making, and the rules by which every answer to one is judged."""
