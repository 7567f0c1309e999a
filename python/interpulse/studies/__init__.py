"""What every study stands on: experiments, characterizations, and whatever else runs many cases and tells of them."""
