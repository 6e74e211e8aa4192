"""Units of the action numbers that are small beside noise of deviation 1: steps, angles and places."""

# How many of these units make one of those in README's table. The shipped checkpoint was trained with 1. For the next training 4:
# the sampler's last step leaves a quarter of the noise, which is then a quarter as much of a place or an angle.
LARGER = 1.0
# Columns that are multiplied, by name of the scenes' domain.
COLUMNS = {"bridge_orig_lerobot": (0, 1), "droid_lerobot": (0, 1), "droid_joints": (0, 1, 2), "pusht": (0, 1)}


def scaled(actions, domain, factor):
    """A copy of actions [n, width] with the domain's columns times `factor`."""
    found = actions.copy()
    found[:, list(COLUMNS.get(domain, ()))] *= factor
    return found
