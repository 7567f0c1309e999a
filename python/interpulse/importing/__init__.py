"""Files of other simulators as configurations, and configurations as files of theirs."""
