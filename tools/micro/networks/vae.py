"""The Wan 2.2 style video autoencoder as one causal pass over the whole clip.

Pixels in [-1, 1], [B, 3, F, H, W] with F = 4n+1; latents [B, z, n+1, H/16, W/16].
Everything is causal with zero history, so one pass equals the frame-by-frame reference.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# A causal 3x3x3 convolution runs as conv3d or as conv2d over stacked frames; the trainer times both and picks one.
STACK_FRAMES = False


def norm_silu_forward(x, gamma):
    """RMS norm over channels (x / max(|x|, 1e-12) * sqrt(C) * gamma), then SiLU; x [N, C]. Trainers compile it."""
    y = x.float()
    scale = x.shape[1] ** 0.5 / y.pow(2).sum(1, keepdim=True).sqrt().clamp_min(1e-12)
    return F.silu(y * scale * gamma).to(x.dtype)


def norm_silu_backward(grad, x, gamma):
    """Gradients of norm_silu_forward with respect to x and gamma."""
    y, root = x.float(), x.shape[1] ** 0.5
    inverse = 1 / y.pow(2).sum(1, keepdim=True).sqrt().clamp_min(1e-12)
    unit = y * inverse
    u = unit * root * gamma
    gate = torch.sigmoid(u)
    grad_u = grad.float() * gate * (1 + u * (1 - gate))
    w = grad_u * gamma
    grad_x = root * inverse * (w - unit * (unit * w).sum(1, keepdim=True))
    return grad_x.to(x.dtype), (grad_u * unit * root).sum(0)


class NormSilu(torch.autograd.Function):
    """norm_silu_forward with its gradient; keeps the input alone for the backward pass."""

    @staticmethod
    def forward(ctx, x, gamma):
        ctx.save_for_backward(x, gamma)
        return norm_silu_forward(x.data, gamma.data)

    @staticmethod
    def backward(ctx, grad):
        x, gamma = ctx.saved_tensors
        return norm_silu_backward(grad.contiguous().data, x.data, gamma.data)


def norm_silu(x, gamma):
    """RMS norm and SiLU of [B, C, T, H, W]; without a copy where x is channels-last."""
    rows = x.permute(0, 2, 3, 4, 1)
    y = NormSilu.apply(rows.reshape(-1, x.shape[1]).contiguous(), gamma.view(-1))
    return y.view(rows.shape).permute(0, 4, 1, 2, 3)


class CausalConv(nn.Module):
    """Convolution that pads time in front only (kernel_t - 1 zeros) and space on both sides."""

    def __init__(self, channels_in, channels_out, kernel, stride_t=1, pad_time=True):
        super().__init__()
        self.kernel = (kernel,) * 3 if isinstance(kernel, int) else kernel
        self.stride_t, self.pad_time = stride_t, pad_time
        self.weight = nn.Parameter(torch.empty(channels_out, channels_in, *self.kernel))
        self.bias = nn.Parameter(torch.zeros(channels_out))
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))

    def forward(self, x):
        kt, kh, kw = self.kernel
        space = (kh // 2, kw // 2)
        if self.pad_time and x.shape[2] == 1:  # the taps on the past see zeros only
            return F.conv2d(x[:, :, 0], self.weight[:, :, -1], self.bias, padding=space)[:, :, None]
        if kt > 1 and self.pad_time:
            x = F.pad(x, (0, 0, 0, 0, kt - 1, 0))
        if STACK_FRAMES and kt == 3 and kh == 3:
            b, c, t, h, w = x.shape
            frames = x.transpose(1, 2)  # [B, T, C, H, W]
            stacked = torch.cat([frames[:, i : t - 2 + i] for i in range(3)], 2).reshape(b * (t - 2), 3 * c, h, w)
            stacked = stacked.contiguous(memory_format=torch.channels_last)
            weight = self.weight.transpose(1, 2).reshape(-1, 3 * c, kh, kw)
            y = F.conv2d(stacked, weight, self.bias, padding=space)
            return y.view(b, t - 2, -1, h, w).transpose(1, 2)
        return F.conv3d(x, self.weight, self.bias, stride=(self.stride_t, 1, 1), padding=(0, *space))


class Conv2d(nn.Module):
    """Plain 2-d convolution with the reference's parameter names."""

    def __init__(self, channels_in, channels_out, kernel, stride=1, pad=None):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(channels_out, channels_in, kernel, kernel))
        self.bias = nn.Parameter(torch.zeros(channels_out))
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        self.stride, self.pad = stride, kernel // 2 if pad is None else pad

    def forward(self, x):
        return F.conv2d(x, self.weight, self.bias, stride=self.stride, padding=self.pad)


class Gamma(nn.Module):
    """Holds the scale of an RMS norm over channels."""

    def __init__(self, channels, axes):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(channels, *([1] * axes)))


class ResBlock(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.norm1, self.norm2 = Gamma(channels_in, 3), Gamma(channels_out, 3)
        self.conv1 = CausalConv(channels_in, channels_out, 3)
        self.conv2 = CausalConv(channels_out, channels_out, 3)
        self.conv_shortcut = CausalConv(channels_in, channels_out, 1) if channels_in != channels_out else None

    def forward(self, x):
        y = self.conv1(norm_silu(x, self.norm1.gamma))
        y = self.conv2(norm_silu(y, self.norm2.gamma))
        return y + (x if self.conv_shortcut is None else self.conv_shortcut(x))


def fold_frames(x):
    """[B, C, T, H, W] -> [B*T, C, H, W]."""
    b, c, t, h, w = x.shape
    return x.transpose(1, 2).reshape(b * t, c, h, w)


def unfold_frames(x, batch):
    """[B*T, C, H, W] -> [B, C, T, H, W]."""
    return x.view(batch, -1, *x.shape[1:]).transpose(1, 2)


class FrameAttention(nn.Module):
    """Single-head attention over the positions of each frame."""

    def __init__(self, channels):
        super().__init__()
        self.norm = Gamma(channels, 2)
        self.to_qkv, self.proj = Conv2d(channels, 3 * channels, 1), Conv2d(channels, channels, 1)

    def forward(self, x):
        b, c, _, h, w = x.shape
        y = fold_frames(x)
        y = (F.normalize(y.float(), dim=1) * (c**0.5) * self.norm.gamma).to(x.dtype)
        q, k, v = self.to_qkv(y).reshape(-1, 3 * c, h * w).transpose(1, 2).chunk(3, -1)
        y = F.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None])[:, 0]
        y = self.proj(y.transpose(1, 2).reshape(-1, c, h, w))
        return x + unfold_frames(y, b)


class MidBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.resnets = nn.ModuleList([ResBlock(channels, channels), ResBlock(channels, channels)])
        self.attentions = nn.ModuleList([FrameAttention(channels)])

    def forward(self, x):
        return self.resnets[1](self.attentions[0](self.resnets[0](x)))


class Downsampler(nn.Module):
    def __init__(self, channels, temporal):
        super().__init__()
        self.resample = nn.Sequential(nn.Identity(), Conv2d(channels, channels, 3, stride=2, pad=0))
        self.time_conv = CausalConv(channels, channels, (3, 1, 1), stride_t=2, pad_time=False) if temporal else None

    def forward(self, x):
        x = unfold_frames(self.resample[1](F.pad(fold_frames(x), (0, 1, 0, 1))), x.shape[0])
        if self.time_conv is None or x.shape[2] == 1:
            return x
        return torch.cat([x[:, :, :1], self.time_conv(x)], 2)


class Upsampler(nn.Module):
    def __init__(self, channels, temporal):
        super().__init__()
        self.resample = nn.Sequential(nn.Identity(), Conv2d(channels, channels, 3))
        self.time_conv = CausalConv(channels, 2 * channels, (3, 1, 1)) if temporal else None

    def forward(self, x):
        if self.time_conv is not None and x.shape[2] > 1:
            # time_conv does not see frame 0; its two halves are the two frames that follow
            y = self.time_conv(x[:, :, 1:])
            b, c2, t, h, w = y.shape
            y = y.view(b, 2, c2 // 2, t, h, w).permute(0, 2, 3, 1, 4, 5).reshape(b, c2 // 2, 2 * t, h, w)
            x = torch.cat([x[:, :, :1], y], 2)
        y = F.interpolate(fold_frames(x), scale_factor=2, mode="nearest")
        return unfold_frames(self.resample[1](y), x.shape[0])


def average_down(x, channels, factor_t, factor_s):
    """Shortcut of a down block: zero-pads time in front, unshuffles pixels, averages groups of channels."""
    x = F.pad(x, (0, 0, 0, 0, -x.shape[2] % factor_t, 0))
    b, c, t, h, w = x.shape
    x = x.view(b, c, t // factor_t, factor_t, h // factor_s, factor_s, w // factor_s, factor_s)
    x = x.permute(0, 1, 3, 5, 7, 2, 4, 6).reshape(b, channels, -1, t // factor_t, h // factor_s, w // factor_s)
    return x.mean(2)


def duplicate_up(x, channels, factor_t, factor_s):
    """Shortcut of an up block: repeats channels and shuffles them to pixels; drops the first doubled frame."""
    repeats = channels * factor_t * factor_s * factor_s // x.shape[1]
    b, _, t, h, w = x.shape
    x = x.repeat_interleave(repeats, 1).view(b, channels, factor_t, factor_s, factor_s, t, h, w)
    x = x.permute(0, 1, 5, 2, 6, 3, 7, 4).reshape(b, channels, t * factor_t, h * factor_s, w * factor_s)
    return x[:, :, factor_t - 1 :]


class DownBlock(nn.Module):
    def __init__(self, channels_in, channels_out, blocks, temporal, down):
        super().__init__()
        widths = [channels_in] + [channels_out] * blocks
        self.resnets = nn.ModuleList([ResBlock(a, b) for a, b in zip(widths[:-1], widths[1:])])
        self.downsampler = Downsampler(channels_out, temporal) if down else None
        self.shortcut = (channels_out, 2 if temporal else 1, 2 if down else 1)

    def forward(self, x):
        y = x
        for block in self.resnets:
            y = block(y)
        if self.downsampler is not None:
            y = self.downsampler(y)
        return y + average_down(x, *self.shortcut)


class UpBlock(nn.Module):
    def __init__(self, channels_in, channels_out, blocks, temporal, up):
        super().__init__()
        widths = [channels_in] + [channels_out] * (blocks + 1)
        self.resnets = nn.ModuleList([ResBlock(a, b) for a, b in zip(widths[:-1], widths[1:])])
        self.upsampler = Upsampler(channels_out, temporal) if up else None
        self.shortcut = (channels_out, 2 if temporal else 1, 2)

    def forward(self, x):
        y = x
        for block in self.resnets:
            y = block(y)
        return y if self.upsampler is None else self.upsampler(y) + duplicate_up(x, *self.shortcut)


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        base, mults, blocks = config["base_dim"], config["dim_mult"], config["num_res_blocks"]
        widths = [base * m for m in [1, *mults]]
        last = len(mults) - 1
        temporal = [*config["temperal_downsample"], False]
        self.conv_in = CausalConv(config["in_channels"], widths[0], 3)
        self.down_blocks = nn.ModuleList(
            [DownBlock(widths[i], widths[i + 1], blocks, temporal[i], i < last) for i in range(len(mults))]
        )
        self.mid_block = MidBlock(widths[-1])
        self.norm_out = Gamma(widths[-1], 3)
        self.conv_out = CausalConv(widths[-1], 2 * config["z_dim"], 3)

    def forward(self, x):
        x = self.conv_in(x)
        for block in self.down_blocks:
            x = block(x)
        return self.conv_out(norm_silu(self.mid_block(x), self.norm_out.gamma))


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        base, mults, blocks = config["decoder_base_dim"], config["dim_mult"], config["num_res_blocks"]
        widths = [base * m for m in [mults[-1], *mults[::-1]]]
        last = len(mults) - 1
        temporal = [*config["temperal_downsample"][::-1], False]
        self.conv_in = CausalConv(config["z_dim"], widths[0], 3)
        self.mid_block = MidBlock(widths[0])
        self.up_blocks = nn.ModuleList(
            [UpBlock(widths[i], widths[i + 1], blocks, temporal[i], i < last) for i in range(len(mults))]
        )
        self.norm_out = Gamma(widths[-1], 3)
        self.conv_out = CausalConv(widths[-1], config["out_channels"], 3)

    def forward(self, z):
        x = self.mid_block(self.conv_in(z))
        for block in self.up_blocks:
            x = block(x)
        return self.conv_out(norm_silu(x, self.norm_out.gamma))


def patchify(x):
    """[B, 3, F, H, W] -> [B, 12, F, H/2, W/2]; channel = (c*2 + column offset)*2 + row offset."""
    b, c, t, h, w = x.shape
    return x.view(b, c, t, h // 2, 2, w // 2, 2).permute(0, 1, 6, 4, 2, 3, 5).reshape(b, 4 * c, t, h // 2, w // 2)


def unpatchify(x):
    """Inverse of patchify."""
    b, c, t, h, w = x.shape
    return x.view(b, c // 4, 2, 2, t, h, w).permute(0, 1, 4, 5, 3, 6, 2).reshape(b, c // 4, t, 2 * h, 2 * w)


class Vae(nn.Module):
    """AutoencoderKLWan with `config` as in vae/config.json (patch size 2, residual)."""

    def __init__(self, config):
        super().__init__()
        z = config["z_dim"]
        self.config = config
        self.encoder, self.decoder = Encoder(config), Decoder(config)
        self.quant_conv, self.post_quant_conv = CausalConv(2 * z, 2 * z, 1), CausalConv(z, z, 1)

    def encode(self, pixels):
        """Returns the raw latent (the mean half), not yet normalised."""
        return self.quant_conv(self.encoder(patchify(pixels))).chunk(2, 1)[0]

    def decode(self, latent):
        """Returns pixels of a raw latent, not clamped."""
        return unpatchify(self.decoder(self.post_quant_conv(latent)))


def decode_flops(config, frames, height, width):
    """Multiply-adds times two of one clip's decode, from the config alone (convolutions and frame attention)."""
    base, mults, z = config["decoder_base_dim"], config["dim_mult"], config["z_dim"]
    widths = [base * m for m in [mults[-1], *mults[::-1]]]
    temporal = [*config["temperal_downsample"][::-1], False]
    t, h, w = (frames - 1) // 4 + 1, height // 16, width // 16
    conv = lambda a, b, taps: 2 * a * b * taps * t * h * w
    total = conv(z, z, 1) + conv(z, widths[0], 27) + 4 * conv(widths[0], widths[0], 27) + conv(widths[0], widths[0], 4)
    total += 4 * t * (h * w) ** 2 * widths[0]
    for i in range(len(mults)):
        a, b = widths[i], widths[i + 1]
        total += conv(a, b, 27) + conv(b, b, 27) * (2 * config["num_res_blocks"] + 1) + (conv(a, b, 1) if a != b else 0)
        if i < len(mults) - 1:
            if temporal[i]:
                total += conv(b, 2 * b, 3)
                t = 2 * t - 1
            h, w = 2 * h, 2 * w
            total += conv(b, b, 9)
    return total + conv(widths[-1], config["out_channels"], 27)
