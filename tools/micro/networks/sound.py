"""The sound tokenizer (AVAE): 48 kHz stereo [B, 2, N] <-> latents [B, C, ceil(N / hop)]."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Snake(nn.Module):
    """SnakeBeta: x + sin^2(e^alpha x) / (e^beta + 1e-9), per channel."""

    def __init__(self, channels):
        super().__init__()
        self.alpha = nn.Parameter(torch.zeros(1, channels, 1))
        self.beta = nn.Parameter(torch.zeros(1, channels, 1))

    def forward(self, x):
        return x + torch.sin(self.alpha.exp() * x).pow(2) / (self.beta.exp() + 1e-9)


class WeightNormConv(nn.Module):
    """1-d convolution, plain or transposed, with w = g * v / |v| over all dims but the first."""

    def __init__(self, channels_in, channels_out, kernel, *, bias=True, transposed=False, **options):
        super().__init__()
        shape = (channels_in, channels_out, kernel) if transposed else (channels_out, channels_in, kernel)
        self.weight_v = nn.Parameter(torch.empty(shape))
        nn.init.kaiming_uniform_(self.weight_v, a=math.sqrt(5))
        self.weight_g = nn.Parameter(self.weight_v.detach().flatten(1).norm(dim=1).view(-1, 1, 1).clone())
        self.bias = nn.Parameter(torch.zeros(channels_out)) if bias else None
        self.run, self.options = (F.conv_transpose1d if transposed else F.conv1d), options

    def forward(self, x):
        norm = self.weight_v.flatten(1).norm(dim=1).view(-1, 1, 1)
        return self.run(x, self.weight_g * self.weight_v / norm, self.bias, **self.options)


class ResidualUnit(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.snake1, self.snake2 = Snake(channels), Snake(channels)
        self.conv1 = WeightNormConv(channels, channels, 7, dilation=dilation, padding=3 * dilation)
        self.conv2 = WeightNormConv(channels, channels, 1)

    def forward(self, x):
        return x + self.conv2(self.snake2(self.conv1(self.snake1(x))))


class DecoderBlock(nn.Module):
    def __init__(self, channels_in, channels_out, stride):
        super().__init__()
        self.snake1 = Snake(channels_in)
        self.conv_t1 = WeightNormConv(
            channels_in, channels_out, 2 * stride, transposed=True,
            stride=stride, padding=math.ceil(stride / 2), output_padding=stride % 2,
        )
        self.res_unit1 = ResidualUnit(channels_out, 1)
        self.res_unit2 = ResidualUnit(channels_out, 3)
        self.res_unit3 = ResidualUnit(channels_out, 9)

    def forward(self, x):
        x = self.conv_t1(self.snake1(x))
        return self.res_unit3(self.res_unit2(self.res_unit1(x)))


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        mults = [1, *config["dec_c_mults"]]
        widths = [config["dec_dim"] * m for m in mults[::-1]]
        self.conv1 = WeightNormConv(config["vocoder_input_dim"], widths[0], 7, padding=3)
        strides = config["dec_strides"][::-1]
        self.block = nn.ModuleList([DecoderBlock(widths[i], widths[i + 1], s) for i, s in enumerate(strides)])
        self.snake1 = Snake(widths[-1])
        self.conv2 = WeightNormConv(widths[-1], config["dec_out_channels"], 7, padding=3, bias=False)

    def forward(self, z):
        x = self.conv1(z)
        for block in self.block:
            x = block(x)
        return self.conv2(self.snake1(x))


class ConvNextBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.dwconv = nn.Sequential(nn.Identity(), nn.Conv1d(channels, channels, 7, padding=3, groups=channels))
        self.norm = nn.LayerNorm(channels, bias=False)
        self.pwconv1 = nn.Conv1d(channels, 4 * channels, 1)
        self.act = Snake(4 * channels)
        self.pwconv2 = nn.Conv1d(4 * channels, channels, 1)

    def forward(self, x):
        y = self.norm(self.dwconv(x).transpose(1, 2)).transpose(1, 2)
        return x + self.pwconv2(self.act(self.pwconv1(y)))


class Encoder(nn.Module):
    """Spectrogram, then ConvNeXt blocks with strided convolutions between."""

    def __init__(self, config):
        super().__init__()
        bins = 2 * (config["enc_n_fft"] // 2 + 1) * (2 if config["stereo"] else 1)
        widths = [config["enc_dim"] * m for m in config["enc_c_mults"]]
        layers = [WeightNormConv(bins, widths[0], 1, bias=False)]
        for i, stride in enumerate(config["enc_strides"]):
            layers += [ConvNextBlock(widths[i]) for _ in range(config["enc_num_blocks"])]
            following = widths[min(i + 1, len(widths) - 1)]
            layers.append(
                WeightNormConv(widths[i], following, 2 * stride, stride=stride, padding=math.ceil(stride / 2))
            )
        layers.append(WeightNormConv(widths[-1], config["enc_latent_dim"], 1, bias=False))
        self.layers = nn.Sequential(*layers)

    def forward(self, spectrogram):
        return self.layers(spectrogram)


class SoundTokenizer(nn.Module):
    """Cosmos3AVAEAudioTokenizer with `config` as in sound_tokenizer/config.json."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.hop = math.prod(config["dec_strides"])
        self.encoder, self.decoder = Encoder(config), Decoder(config)

    def spectrogram(self, waveform, normalise=True):
        """Peak-normalised to 0.95, padded to whole hops, STFT without centring; real and imaginary stacked per channel."""
        n_fft, hop = self.config["enc_n_fft"], self.config["enc_hop_length"]
        if normalise:
            waveform = waveform / waveform.abs().amax((1, 2), keepdim=True).clamp_min(1e-5) * 0.95
        waveform = F.pad(waveform, (0, -waveform.shape[-1] % self.hop))
        b = waveform.shape[0]
        padded = F.pad(waveform, ((n_fft - hop) // 2, (n_fft - hop) // 2)).flatten(0, 1)
        window = torch.hann_window(n_fft, device=waveform.device)
        spec = torch.stft(padded, n_fft, hop, n_fft, window, center=False, return_complex=True)  # [B*2, bins, frames]
        return torch.cat([spec.real, spec.imag], 1).view(b, -1, spec.shape[-1])

    def encode(self, waveform, normalise=True):
        """Returns the mean half of the encoder's output; training crops of a normalised clip pass normalise=False."""
        return self.encoder(self.spectrogram(waveform, normalise)).chunk(2, 1)[0]

    def decode(self, latent):
        """Returns whole hops of waveform, not clamped."""
        return self.decoder(latent)
