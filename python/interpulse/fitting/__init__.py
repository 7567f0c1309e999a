"""A model of one's own drive: the figures that its data sheet or fio tells, and the parameters that give them."""
