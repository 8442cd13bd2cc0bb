"""What people run: the commands, the runs they make, the report of a run, the quickstart."""
