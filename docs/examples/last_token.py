"""A classifier of sentences that looks at the last token, with random weights."""

from typing import Any

import torch
from torch import Tensor, nn


class Classifier(nn.Module):
    """Logits of shape (batch, 4) for token numbers of shape (batch, length)."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.layers = nn.Sequential(
            *(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True) for _ in range(2))
        )
        self.head = nn.Linear(16, 4)

    def forward(self, ids: Tensor) -> Tensor:
        """The logits of the last token."""
        tokens: Tensor = self.layers(self.embed(ids))
        logits: Tensor = self.head(tokens[:, -1])
        return logits


def make() -> tuple[nn.Module, tuple[Tensor], dict[str, Any]]:
    """The model, an example of its input, and the dimensions that vary."""
    torch.manual_seed(0)
    varying = {0: torch.export.Dim("batch", max=16), 1: torch.export.Dim("length", min=2, max=64)}
    return Classifier().eval(), (torch.randint(50, (2, 9)),), {"ids": varying}
