"""A folder of results as one HTML page."""
