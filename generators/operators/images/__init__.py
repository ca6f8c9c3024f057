"""Images sampled at computed places: grids, regions and volumes."""
