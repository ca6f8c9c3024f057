"""The settings to blame for a failure: put back one by one, made milder, exchanged for siblings."""
