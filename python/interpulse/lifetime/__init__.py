"""Whole life of a drive: windows of full simulation at growing ages, with sampled wear and retention between them."""
