"""Networks over sequences without attention: recurrent ones and convolutions in time."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.parametrizations import weight_norm

from tests.zoo.model import Input, Model


class Classifier(nn.Module):
    """Tokens through a recurrent network; the last state decides."""

    def __init__(self, cell: type[nn.RNNBase], *, bidirectional: bool = False) -> None:
        super().__init__()
        self.embed = nn.Embedding(40, 12)
        self.cell = cell(12, 16, 2, batch_first=True, bidirectional=bidirectional)
        self.head = nn.Linear(32 if bidirectional else 16, 4)

    def forward(self, tokens: Tensor) -> Tensor:
        states, _ = self.cell(self.embed(tokens))
        return self.head(states[:, -1])


class Tagger(nn.Module):
    """A label for each token, by a bidirectional LSTM over a normalised embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(40, 12, padding_idx=0)
        self.norm = nn.LayerNorm(12)
        self.cell = nn.LSTM(12, 10, batch_first=True, bidirectional=True)
        self.head = nn.Linear(20, 6)

    def forward(self, tokens: Tensor) -> Tensor:
        states, _ = self.cell(self.norm(self.embed(tokens)))
        return self.head(states).log_softmax(-1)


class CellLoop(nn.Module):
    """A GRU cell that runs for five steps, fed with its own output."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(8, 16)
        self.out = nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        state = x.new_zeros(x.shape[0], 16)
        made = []
        for _ in range(5):
            state = self.cell(x, state)
            x = torch.tanh(self.out(state))
            made.append(x)
        return torch.stack(made, 1)


class WaveNetBlock(nn.Module):
    """Van den Oord et al. 2016: gated, causal, dilated convolutions with skips."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(1, 8, 1)
        self.gates = nn.ModuleList([nn.Conv1d(8, 16, 2, dilation=2**n) for n in range(4)])
        self.skips = nn.ModuleList([nn.Conv1d(8, 8, 1) for _ in range(4)])
        self.last = nn.Conv1d(8, 16, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        total = torch.zeros_like(x)
        for number, (gate, skip) in enumerate(zip(self.gates, self.skips, strict=True)):
            wave, level = gate(F.pad(x, (2**number, 0))).chunk(2, 1)
            y = torch.tanh(wave) * torch.sigmoid(level)
            total = total + skip(y)
            x = x + y
        return self.last(F.relu(total))


class TemporalConvolutions(nn.Module):
    """Bai et al. 2018: residual blocks of causal convolutions, cut to the length of their input."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            [nn.Conv1d(6, 6, 3, padding=2 * 2**n, dilation=2**n) for n in range(3)]
        )
        self.head = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        for number, block in enumerate(self.blocks):
            x = F.relu(x + block(x)[..., : -2 * 2 * 2**number // 2])
        return self.head(x[..., -1])


class Vocoder(nn.Module):
    """Kong et al. 2020, HiFi-GAN: transposed convolutions, then kernels of several sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.pre = weight_norm(nn.Conv1d(10, 16, 7, padding=3))
        self.ups = nn.ModuleList(
            [weight_norm(nn.ConvTranspose1d(16, 8, 8, 4, 2)),
             weight_norm(nn.ConvTranspose1d(8, 4, 4, 2, 1))]
        )  # fmt: skip
        self.branches = nn.ModuleList(
            [
                nn.ModuleList([weight_norm(nn.Conv1d(width, width, kernel, padding=kernel // 2))
                               for kernel in (3, 5, 7)])
                for width in (8, 4)
            ]
        )  # fmt: skip
        self.post = weight_norm(nn.Conv1d(4, 1, 7, padding=3))

    def forward(self, mel: Tensor) -> Tensor:
        x = self.pre(mel)
        for up, branches in zip(self.ups, self.branches, strict=True):
            x = up(F.leaky_relu(x, 0.1))
            parts = [x + branch(F.leaky_relu(x, 0.1)) for branch in branches]
            x = torch.stack(parts).mean(0)
        return torch.tanh(self.post(F.leaky_relu(x)))


class Joiner(nn.Module):
    """Graves 2012, RNN-T: every step of the encoder meets every step of the predictor."""

    def __init__(self) -> None:
        super().__init__()
        self.sound = nn.Linear(10, 16)
        self.embed = nn.Embedding(20, 16)
        self.predict = nn.Conv1d(16, 16, 2, groups=4)
        self.out = nn.Linear(16, 21)

    def forward(self, frames: Tensor, labels: Tensor) -> Tensor:
        history = F.pad(self.embed(labels).transpose(1, 2), (1, 0))
        predicted = F.relu(self.predict(history)).transpose(1, 2)
        joined = torch.tanh(self.sound(frames)[:, :, None] + predicted[:, None])
        return self.out(joined).log_softmax(-1)


class StateSpace(nn.Module):
    """A diagonal linear recurrence computed for all steps at once: powers and cumulative sums."""

    def __init__(self) -> None:
        super().__init__()
        self.rate = nn.Parameter(torch.rand(8))
        self.inner = nn.Linear(6, 8)
        self.outer = nn.Linear(8, 6)

    def forward(self, x: Tensor) -> Tensor:
        steps = torch.arange(x.shape[1], dtype=x.dtype)
        decay = -F.softplus(self.rate) * 0.1
        grown = self.inner(x) * torch.exp(-decay * steps[:, None])
        states = grown.cumsum(1) * torch.exp(decay * steps[:, None])
        return x + self.outer(F.gelu(states))


class Spectrogram(nn.Module):
    """Frames of a signal, a matrix of cosines, and the logarithm of bands, then a classifier."""

    def __init__(self) -> None:
        super().__init__()
        angle = torch.arange(16)[:, None] * (torch.arange(9) * (2 * torch.pi / 16))
        self.register_buffer("cosine", torch.cos(angle) * torch.hann_window(16)[:, None])
        self.register_buffer("sine", torch.sin(angle) * torch.hann_window(16)[:, None])
        self.bands = nn.Linear(9, 6, bias=False)
        self.head = nn.Linear(6, 3)

    def forward(self, signal: Tensor) -> Tensor:
        frames = signal.unfold(-1, 16, 8)
        power = (frames @ self.cosine).square() + (frames @ self.sine).square()
        bands = torch.log(self.bands(power).abs() + 1e-5)
        bands = (bands - bands.mean(-2, keepdim=True)) / (bands.std(-2, keepdim=True) + 1e-3)
        return self.head(bands.amax(-2))


def _of(cell: type[nn.RNNBase], *, bidirectional: bool = False) -> nn.Module:
    return Classifier(cell, bidirectional=bidirectional)


_TOKENS = Input(("batch", "length"), 40)

MODELS = (
    Model("lstm-classifier", lambda: _of(nn.LSTM), (_TOKENS,)),
    Model("gru-classifier", lambda: _of(nn.GRU), (_TOKENS,)),
    Model("rnn-classifier", lambda: _of(nn.RNN, bidirectional=True), (_TOKENS,)),
    Model("bilstm-tagger", Tagger, (_TOKENS,)),
    Model("gru-cell-loop", CellLoop, (Input(("batch", 8)),)),
    Model("wavenet-block", WaveNetBlock, (Input(("batch", 1, "length")),)),
    Model("tcn", TemporalConvolutions, (Input(("batch", 6, "length")),)),
    Model("vocoder", Vocoder, (Input(("batch", 10, "length")),)),
    Model(
        "rnnt-joiner",
        Joiner,
        (Input(("batch", "length", 10)), Input(("batch", 6), 20)),
    ),
    Model("state-space", StateSpace, (Input(("batch", "length", 6)),)),
    Model("spectrogram", Spectrogram, (Input(("batch", 96)),)),
)
