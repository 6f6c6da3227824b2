"""One step of training, twice: with numpy alone, and with torch where there is an accelerator.

The loss is the symmetric InfoNCE over the batch: each text has to find its partner among all partners. A text is the
sum of its rows, brought to length one. Both versions do the same; only the order of additions differs.
"""

import numpy

try:
    from scipy.sparse import csr_array
except ImportError:  # numpy alone does it too, in twice the time
    csr_array = None

BETA1, BETA2, EPSILON = 0.9, 0.99, 1e-8


def sums(values, picked, weights, starts):
    """For each run of `picked` the weighted sum of these rows of `values`."""
    if csr_array is not None:
        bounds = numpy.append(starts, len(picked))
        return csr_array((weights, picked, bounds), shape=(len(starts), len(values))) @ values
    taken = values[picked]
    taken *= weights[:, None]
    return numpy.add.reduceat(taken, starts, axis=0)


def same(ids):
    """Pairs that share a text are no negatives of each other."""
    mask = (ids[:, None, 0] == ids[None, :, 0]) | (ids[:, None, 1] == ids[None, :, 1])
    numpy.fill_diagonal(mask, False)
    return mask


class NumpyModel:
    def __init__(self, table):
        self.table = table
        self.first = numpy.zeros_like(table)
        self.second = numpy.zeros_like(table)
        self.step_count = 0

    def pool(self, rows, owner, weights, size):
        total = sums(self.table, rows, weights, numpy.searchsorted(owner, numpy.arange(size)))
        norms = numpy.linalg.norm(total, axis=1, keepdims=True) + 1e-6
        return total / norms, norms

    def step(self, sides, ids, rate, temperature):
        size = len(ids)
        (one, norm1), (two, norm2) = (self.pool(*side, size) for side in sides)
        scores = one @ two.T / temperature
        scores[same(ids)] = -1e9
        scores -= 1 / temperature  # no score is above this, so nothing overflows
        numpy.exp(scores, out=scores)
        rows = scores / scores.sum(1, keepdims=True)
        columns = scores / scores.sum(0, keepdims=True)
        diagonal = numpy.arange(size)
        loss = -(numpy.log(rows[diagonal, diagonal] + 1e-12) + numpy.log(columns[diagonal, diagonal] + 1e-12)).mean() / 2
        slope = (rows + columns) / (2 * size * temperature)
        slope[diagonal, diagonal] -= 1 / (size * temperature)
        gradients = [self.through_norm(slope @ two, one, norm1), self.through_norm(slope.T @ one, two, norm2)]
        self.update(sides, numpy.concatenate(gradients), rate)
        return float(loss)

    @staticmethod
    def through_norm(gradient, unit, norm):
        return (gradient - unit * (gradient * unit).sum(1, keepdims=True)) / norm

    def update(self, sides, of_text, rate):
        """Adam on the rows that occur; the others stay as they are."""
        rows = numpy.concatenate([side[0] for side in sides])
        owner = numpy.concatenate([sides[0][1], sides[1][1] + len(of_text) // 2])
        weights = numpy.concatenate([side[2] for side in sides])
        order = numpy.argsort(rows, kind='stable')
        touched, starts = numpy.unique(rows[order], return_index=True)
        gradient = sums(of_text, owner[order], weights[order], starts)
        self.step_count += 1
        first, second = self.first[touched], self.second[touched]
        first *= BETA1
        first += (1 - BETA1) * gradient
        gradient *= gradient
        second *= BETA2
        second += (1 - BETA2) * gradient
        self.first[touched], self.second[touched] = first, second
        second /= 1 - BETA2**self.step_count
        numpy.sqrt(second, out=second)
        second += EPSILON
        first /= second
        first *= rate / (1 - BETA1**self.step_count)
        self.table[touched] -= first

    def result(self):
        return self.table


class TorchModel:
    def __init__(self, table, device):
        import torch

        self.torch, self.device = torch, device
        self.table = torch.tensor(table, device=device, requires_grad=True)
        self.first = torch.zeros_like(self.table)
        self.second = torch.zeros_like(self.table)
        self.step_count = 0

    def pool(self, rows, owner, weights, size):
        torch = self.torch
        rows = torch.as_tensor(rows, device=self.device, dtype=torch.long)
        offsets = torch.as_tensor(numpy.searchsorted(owner, numpy.arange(size)), device=self.device)
        weights = torch.as_tensor(weights, device=self.device)
        sums = torch.nn.functional.embedding_bag(rows, self.table, offsets, mode='sum', per_sample_weights=weights)
        return sums / (sums.norm(dim=1, keepdim=True) + 1e-6), rows

    def step(self, sides, ids, rate, temperature):
        torch = self.torch
        size = len(ids)
        (one, rows1), (two, rows2) = (self.pool(*side, size) for side in sides)
        known = torch.as_tensor(ids, device=self.device)
        mask = (known[:, None, 0] == known[None, :, 0]) | (known[:, None, 1] == known[None, :, 1])
        mask.fill_diagonal_(False)
        scores = (one @ two.T / temperature).masked_fill(mask, -1e9)
        goal = torch.arange(size, device=self.device)
        cross = torch.nn.functional.cross_entropy
        loss = (cross(scores, goal) + cross(scores.T, goal)) / 2
        (gradient,) = torch.autograd.grad(loss, self.table)
        with torch.no_grad():
            touched = torch.unique(torch.cat([rows1, rows2]))
            gradient = gradient[touched]
            self.step_count += 1
            self.first[touched] = BETA1 * self.first[touched] + (1 - BETA1) * gradient
            self.second[touched] = BETA2 * self.second[touched] + (1 - BETA2) * gradient**2
            mean = self.first[touched] / (1 - BETA1**self.step_count)
            spread = self.second[touched] / (1 - BETA2**self.step_count)
            self.table[touched] -= rate * mean / (spread.sqrt() + EPSILON)
        return loss.detach()

    def result(self):
        return self.table.detach().cpu().numpy()
