"""Studies: one question each, answered as a DataFrame. They compute; figures draw; the command line prints."""
