"""Page on which the settings of a drive are controls: `interpulse explore`."""
