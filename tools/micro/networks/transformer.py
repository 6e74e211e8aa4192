"""The two-tower Cosmos3 transformer, batched for training: padded text, padded generation rows.

Text rows run through the und tower (causal); vision, sound and action rows through the gen tower, whose queries see
the und keys and all gen keys. The und tower never sees the timestep nor a gen row.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn


class RmsNorm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight).to(x.dtype)


class Mlp(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.gate_proj = nn.Linear(width, inner, bias=False)
        self.up_proj = nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Attention(nn.Module):
    """Projections and head norms of both towers."""

    def __init__(self, config):
        super().__init__()
        width, d = config["hidden_size"], config["head_dim"]
        q, kv = config["num_attention_heads"] * d, config["num_key_value_heads"] * d
        eps = config["rms_norm_eps"]
        self.to_q, self.to_k, self.to_v = (nn.Linear(width, n, bias=False) for n in (q, kv, kv))
        self.add_q_proj, self.add_k_proj, self.add_v_proj = (nn.Linear(width, n, bias=False) for n in (q, kv, kv))
        self.to_out, self.to_add_out = nn.Linear(q, width, bias=False), nn.Linear(q, width, bias=False)
        self.norm_q, self.norm_k, self.norm_added_q, self.norm_added_k = (RmsNorm(d, eps) for _ in range(4))


def rotate(x, cos, sin):
    """Rotate-half rotary embedding; x [B, N, heads, d], cos and sin [B, N, d]."""
    a, b = x.chunk(2, -1)
    return (x * cos[:, :, None] + torch.cat((-b, a), -1) * sin[:, :, None]).to(x.dtype)


def attend(q, k, v, bias=None, causal=False):
    """Grouped-query attention; q [B, N, H, d], k and v [B, M, KV, d]; returns [B, N, H*d]."""
    groups = q.shape[2] // k.shape[2]
    k, v = (y.transpose(1, 2).repeat_interleave(groups, 1) for y in (k, v))
    bias = None if bias is None else bias.to(q.dtype)
    y = F.scaled_dot_product_attention(q.transpose(1, 2), k, v, attn_mask=bias, is_causal=causal)
    return y.transpose(1, 2).flatten(2)


class Packing(NamedTuple):
    """Where the keys that may be seen lie, for attention without masks (CUDA)."""

    index: torch.Tensor  # [keys], into all keys of the batch, padding left out
    starts_q: torch.Tensor  # [B + 1] int32
    starts_k: torch.Tensor  # [B + 1] int32, into `index`
    longest: int  # keys of one sample, at most


def packing_of(seen, queries):
    """The packing of keys seen [B, M] (bool) for so many queries a sample."""
    ends = F.pad(seen.sum(1).cumsum(0), (1, 0)).int()
    starts = torch.arange(len(seen) + 1, device=seen.device, dtype=torch.int32) * queries
    return Packing(seen.flatten().nonzero().squeeze(1), starts, ends, seen.shape[1])


def attend_packed(q, k, v, packing):
    """As `attend`, on the keys of the packing alone, by the flash kernel for samples of unequal lengths."""
    k, v = (y.flatten(0, 1).index_select(0, packing.index) for y in (k, v))
    flash = torch.ops.aten._flash_attention_forward
    y = flash(q.flatten(0, 1), k, v, packing.starts_q, packing.starts_k, q.shape[1], packing.longest, 0.0, False, False)[0]
    return y.view(*q.shape[:2], -1)


class Layer(nn.Module):
    """One layer of both towers; the towers are called apart."""

    def __init__(self, config):
        super().__init__()
        width, inner, eps = config["hidden_size"], config["intermediate_size"], config["rms_norm_eps"]
        self.head_dim = config["head_dim"]
        self.self_attn = Attention(config)
        self.input_layernorm, self.input_layernorm_moe_gen = RmsNorm(width, eps), RmsNorm(width, eps)
        self.post_attention_layernorm, self.post_attention_layernorm_moe_gen = RmsNorm(width, eps), RmsNorm(width, eps)
        self.mlp, self.mlp_moe_gen = Mlp(width, inner), Mlp(width, inner)

    def und(self, x, cos, sin):
        """Text rows [B, L, D] -> (rows, keys, values)."""
        attn, h = self.self_attn, self.input_layernorm(x)
        heads = (*x.shape[:2], -1, self.head_dim)
        q = rotate(attn.norm_q(attn.to_q(h).view(heads)), cos, sin)
        k = rotate(attn.norm_k(attn.to_k(h).view(heads)), cos, sin)
        v = attn.to_v(h).view(heads)
        x = x + attn.to_out(attend(q, k, v, causal=True))
        return x + self.mlp(self.post_attention_layernorm(x)), k, v

    def gen(self, x, cos, sin, und_k, und_v, bias, packing=None):
        """Generation rows [B, N, D] with the und keys of the same layer -> rows."""
        q, k, v = self.gen_heads(x, cos, sin, und_k, und_v)
        y = attend_packed(q, k, v, packing) if packing else attend(q, k, v, bias)
        return self.gen_rest(x, y)

    def gen_heads(self, x, cos, sin, und_k, und_v):
        """Queries of the generation rows, and the keys and values of text and rows."""
        attn, h = self.self_attn, self.input_layernorm_moe_gen(x)
        heads = (*x.shape[:2], -1, self.head_dim)
        q = rotate(attn.norm_added_q(attn.add_q_proj(h).view(heads)), cos, sin)
        k = rotate(attn.norm_added_k(attn.add_k_proj(h).view(heads)), cos, sin)
        v = attn.add_v_proj(h).view(heads)
        return q, torch.cat([und_k, k], 1), torch.cat([und_v, v], 1)

    def gen_rest(self, x, y):
        """What follows attention."""
        x = x + self.self_attn.to_add_out(y)
        return x + self.mlp_moe_gen(self.post_attention_layernorm_moe_gen(x))


class DomainLinear(nn.Module):
    """A linear map whose weight [in, out] and bias depend on the embodiment domain."""

    def __init__(self, domains, size_in, size_out):
        super().__init__()
        self.size = (size_in, size_out)
        self.fc, self.bias = nn.Embedding(domains, size_in * size_out), nn.Embedding(domains, size_out)
        nn.init.normal_(self.fc.weight, std=size_in**-0.5)
        nn.init.zeros_(self.bias.weight)

    def forward(self, x, domain):
        weight = self.fc(domain).view(-1, *self.size)
        return torch.bmm(x, weight.to(x.dtype)) + self.bias(domain)[:, None].to(x.dtype)


class TimeEmbedder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear_1, self.linear_2 = nn.Linear(256, width), nn.Linear(width, width)

    def forward(self, t):
        """t [B], already scaled; float32 throughout."""
        with torch.autocast(t.device.type, enabled=False):
            angles = t[:, None] * torch.exp(-math.log(10000) * torch.arange(128, device=t.device).float() / 128)
            return self.linear_2(F.silu(self.linear_1(torch.cat([angles.cos(), angles.sin()], -1))))


class Transformer(nn.Module):
    """Cosmos3OmniTransformer with `config` as in transformer/config.json."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        width, vocab = config["hidden_size"], config["vocab_size"]
        patch, sound, action = config["patch_latent_dim"], config["sound_dim"], config["action_dim"]
        domains = config["num_embodiment_domains"]
        self.embed_tokens = nn.Embedding(vocab, width)
        self.lm_head = nn.Linear(width, vocab, bias=False)
        self.layers = nn.ModuleList([Layer(config) for _ in range(config["num_hidden_layers"])])
        self.norm, self.norm_moe_gen = RmsNorm(width, config["rms_norm_eps"]), RmsNorm(width, config["rms_norm_eps"])
        self.proj_in, self.proj_out = nn.Linear(patch, width), nn.Linear(width, patch)
        self.time_embedder = TimeEmbedder(width)
        self.audio_proj_in, self.audio_proj_out = nn.Linear(sound, width), nn.Linear(width, sound)
        self.action_proj_in = DomainLinear(domains, action, width)
        self.action_proj_out = DomainLinear(domains, width, action)
        self.audio_modality_embed = nn.Parameter(torch.zeros(width))
        self.action_modality_embed = nn.Parameter(torch.zeros(width))

    def rope(self, positions):
        """positions [B, 3, N] (t, h, w), float32 -> cos, sin [B, N, head_dim]."""
        d, axes = self.config["head_dim"], self.config["rope_axes_dim"]
        j = torch.arange(d // 2, device=positions.device)
        frequency = 1.0 / (self.config["rope_theta"] ** (2 * j.float() / d))
        axis = torch.zeros_like(j)
        axis[(j % 3 == 1) & (j < 3 * axes[1])] = 1
        axis[(j % 3 == 2) & (j < 3 * axes[2])] = 2
        angles = positions.float()[:, axis].transpose(1, 2) * frequency
        angles = torch.cat([angles, angles], -1)
        return angles.cos(), angles.sin()

    def prefill(self, ids):
        """Text ids [B, L] (padding behind) -> [(keys, values)] per layer."""
        b, length = ids.shape
        positions = torch.arange(length, device=ids.device).expand(b, 3, length)
        cos, sin = self.rope(positions)
        x, cache = self.embed_tokens(ids), []
        for layer in self.layers:
            x, k, v = layer.und(x, cos, sin)
            cache.append((k, v))
        return cache

    def denoise(self, batch, cache):
        """Velocities of one packed batch.

        batch: `vision` [B, Nv, patch], `sound` [B, Ns, C] or None, `action` [B, Na, A] or None with `domain` [B];
        `noisy` [B, N] (1 where the row is denoised) and `positions` [B, 3, N] over all rows in that order;
        `t` [B] = timestep * timestep_scale; `bias` [B, 1, 1, L + N], additive, -inf on padding, or None; or `packing` in its place.
        Returns velocities with the shapes of the three inputs.
        """
        rows = [self.proj_in(batch["vision"])]
        if batch.get("sound") is not None:
            rows.append(self.audio_proj_in(batch["sound"]) + self.audio_modality_embed)
        if batch.get("action") is not None:
            rows.append(self.action_proj_in(batch["action"], batch["domain"]) + self.action_modality_embed)
        counts = [r.shape[1] for r in rows]
        x = torch.cat([r.to(rows[0].dtype) for r in rows], 1)
        x = x + (batch["noisy"][..., None] * self.time_embedder(batch["t"])[:, None]).to(x.dtype)
        cos, sin = self.rope(batch["positions"])
        bias = batch.get("bias")
        if bias is not None:
            bias = bias.expand(-1, -1, x.shape[1], -1)
        for layer, (k, v) in zip(self.layers, cache):
            x = layer.gen(x, cos, sin, k, v, bias, batch.get("packing"))
        parts = list(self.norm_moe_gen(x).split(counts, 1))
        out = {"vision": self.proj_out(parts.pop(0))}
        if batch.get("sound") is not None:
            out["sound"] = self.audio_proj_out(parts.pop(0))
        if batch.get("action") is not None:
            out["action"] = self.action_proj_out(parts.pop(0), batch["domain"])
        return out


def to_tokens(latent):
    """Latent [B, C, T, H, W] -> token rows [B, T*h*w, 4C]; pads to even sides; C fastest inside a token."""
    latent = F.pad(latent, (0, latent.shape[4] % 2, 0, latent.shape[3] % 2))
    b, c, t, h, w = latent.shape
    return latent.view(b, c, t, h // 2, 2, w // 2, 2).permute(0, 2, 3, 5, 4, 6, 1).reshape(b, -1, 4 * c)


def to_latent(rows, channels, t, h, w):
    """Inverse of to_tokens for a latent of [C, t, h, w]; crops the padding."""
    hp, wp = (h + 1) // 2, (w + 1) // 2
    x = rows.view(-1, t, hp, wp, 2, 2, channels).permute(0, 6, 1, 2, 4, 3, 5)
    return x.reshape(-1, channels, t, 2 * hp, 2 * wp)[..., :h, :w]


def vision_positions(t, h, w, offset, fps=24.0, base_fps=24.0):
    """[3, t*h*w] of a latent item with token grid h x w."""
    f = torch.arange(t).float()
    time = f / (fps / 4) * (base_fps / 4) + offset if t > 1 else f + offset
    return torch.stack([
        time.repeat_interleave(h * w),
        torch.arange(h).float().repeat_interleave(w).repeat(t),
        torch.arange(w).float().repeat(t * h),
    ])


def line_positions(times):
    """[3, n] of sound or action rows at the given times."""
    return torch.stack([times, torch.zeros_like(times), torch.zeros_like(times)])


def sound_positions(n, offset, latent_fps=25.0, base_fps=24.0):
    return line_positions(torch.arange(n).float() / latent_fps * base_fps + offset)


def action_positions(n, offset, fps=24.0, base_fps=24.0):
    return line_positions((torch.arange(n).float() + 1) / fps * (base_fps / 4) + offset)
