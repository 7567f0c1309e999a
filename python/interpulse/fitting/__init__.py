"""Model fitting: parameters of a drive from the figures of its data sheet or of fio."""
