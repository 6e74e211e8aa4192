"""UniPC (order 2, bh2) over flow velocities, and the product's sigma grid. One state per modality."""

import math

import torch


def native_sigmas(steps, shift):
    """linspace(1 - 1/1000, 0, steps + 1) without its end, shifted, with a final 0; Python floats."""
    grid = [(1 - 1 / 1000) * (1 - i / steps) for i in range(steps)]
    return [shift * s / (1 + (shift - 1) * s) for s in grid] + [0.0]


def flow_sigmas(steps, shift):
    """linspace(1, 1/1000, steps + 1) without its end, shifted, with a final 0 (the scheduler of the golden cases)."""
    grid = [1 + (1 / 1000 - 1) * i / steps for i in range(steps)]
    grid = [shift * s / (1 + (shift - 1) * s) for s in grid]
    if abs(grid[0] - 1) < 1e-6:
        grid[0] -= 1e-6
    return grid + [0.0]


def timestep(sigma):
    """The integer the model sees."""
    return math.trunc(1000 * sigma)


class UniPc:
    """Steps one latent through the sigmas."""

    def __init__(self, sigmas):
        self.sigmas = sigmas
        self.models, self.last, self.order, self.index = [], None, 0, 0

    def level(self, i):
        s = self.sigmas[i]
        return math.log((1 - s) / s) if s > 0 else math.inf

    def step(self, x, velocity):
        """Takes the sample at sigma i and its velocity, returns the sample at sigma i + 1."""
        i, sigmas = self.index, self.sigmas
        model = x - sigmas[i] * velocity
        if i > 0:
            x = self.correct(model)
        self.models = [*self.models[-1:], model]
        self.order = min(2, len(sigmas) - 1 - i, i + 1)
        self.last = x
        self.index += 1
        return self.predict(x)

    def predict(self, x):
        i, sigmas = self.index - 1, self.sigmas
        now, h = self.models[-1], self.level(i + 1) - self.level(i)
        phi1 = math.expm1(-h)
        alpha = 1 - sigmas[i + 1]
        y = sigmas[i + 1] / sigmas[i] * x - alpha * phi1 * now
        if self.order == 2:
            r = (self.level(i - 1) - self.level(i)) / h
            y = y - alpha * phi1 * 0.5 * (self.models[-2] - now) / r
        return y

    def correct(self, model):
        i, sigmas = self.index, self.sigmas  # from sigma i-1 to sigma i
        before, h = self.models[-1], self.level(i) - self.level(i - 1)
        hh = -h
        phi1 = math.expm1(hh)
        alpha = 1 - sigmas[i]
        y = sigmas[i] / sigmas[i - 1] * self.last - alpha * phi1 * before
        if self.order == 1:
            return y - alpha * phi1 * 0.5 * (model - before)
        r = (self.level(i - 2) - self.level(i - 1)) / h
        phi2 = phi1 / hh - 1
        phi3 = phi2 / hh - 0.5
        b1, b2 = phi2 / phi1, 2 * phi3 / phi1
        # the 2x2 system [[1, 1], [r, 1]] rho = [b1, b2]
        rho1 = (b1 - b2) / (1 - r)
        rho2 = b1 - rho1
        return y - alpha * phi1 * (rho1 * (self.models[-2] - before) / r + rho2 * (model - before))
