"""Units of the action numbers that are small beside noise of deviation 1: steps, angles and places."""

# How many of these units make 16 px, a radian, or half of the picture's side. What noise the sampler leaves is then a quarter as much of a
# place or an angle as with 1, which the first three trainings had.
LARGER = 4.0
# Columns that are multiplied, by name of the scenes' domain.
COLUMNS = {"bridge_orig_lerobot": (0, 1), "droid_lerobot": (0, 1), "droid_joints": (0, 1, 2), "pusht": (0, 1)}


def scaled(actions, domain, factor):
    """A copy of actions [n, width] with the domain's columns times `factor`."""
    found = actions.copy()
    found[:, list(COLUMNS.get(domain, ()))] *= factor
    return found
