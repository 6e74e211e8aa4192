"""The optimiser of the transformer: orthogonalised momentum for the layers' matrices, AdamW for all else.

Orthogonalising (Muon) gives every direction of a matrix the same step, so that rare signals, as the words of a prompt, are learned as
fast as the common ones. The step is scaled to the size of an AdamW step, so that one rate serves both.
"""

import torch

MOMENTUM = 0.95
COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # of the quintic iteration that drives all singular values towards 1
STEP = 0.2  # root mean square of an update, in units of the rate: that of a usual AdamW step


def orthogonalise(stack):
    """The nearest half-orthogonal matrix of each in [n, rows, columns], roughly; five Newton-Schulz iterations."""
    x = stack.bfloat16() if stack.is_cuda else stack
    wide = x.shape[1] > x.shape[2]
    x = x.transpose(1, 2) if wide else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    a, b, c = COEFFICIENTS
    for _ in range(5):
        gram = x @ x.transpose(1, 2)
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    return (x.transpose(1, 2) if wide else x).float()


class Optimiser:
    """step(rate) over the named parameters of a transformer; parameters without a gradient are left alone."""

    def __init__(self, net, decay=0.01, muon=True):
        matrices, self.decay = [], decay
        plain = {True: [], False: []}
        for name, p in net.named_parameters():
            if muon and name.startswith("layers.") and p.ndim == 2:
                matrices.append(p)
            else:
                plain[p.ndim == 2].append(p)
        groups = [{"params": plain[True], "weight_decay": decay}, {"params": plain[False], "weight_decay": 0.0}]
        self.adam = torch.optim.AdamW(groups, 1e-3, betas=(0.9, 0.95), fused=next(net.parameters()).is_cuda)
        self.shapes = {}
        for p in matrices:
            self.shapes.setdefault(tuple(p.shape), []).append(p)
        self.momentum = {}
        self.params = [p for p in net.parameters()]

    def zero(self):
        for p in self.params:
            p.grad = None

    @torch.no_grad()
    def step(self, rate):
        for group in self.adam.param_groups:
            group["lr"] = rate
        self.adam.step()
        for shape, params in self.shapes.items():
            params = [p for p in params if p.grad is not None]
            if not params:
                continue
            grads = torch.stack([p.grad for p in params])
            momentum = self.momentum.setdefault(shape, torch.zeros_like(grads))
            momentum.lerp_(grads, 1 - MOMENTUM)
            update = orthogonalise(grads.lerp(momentum, MOMENTUM)) * (STEP * max(shape) ** 0.5)
            torch._foreach_mul_(params, 1 - rate * self.decay)
            torch._foreach_add_(params, list(update.unbind()), alpha=-rate)
