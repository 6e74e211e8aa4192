"""Writes a contact sheet as PNG with nothing but zlib."""

import struct
import zlib

import torch


def write_png(path, image):
    """image: [h, w, 3] uint8 tensor."""
    h, w, _ = image.shape
    rows = torch.cat([torch.zeros(h, 1, dtype=torch.uint8), image.cpu().reshape(h, w * 3)], 1)
    chunk = lambda tag, data: struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))
    header = struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)
    body = zlib.compress(rows.numpy().tobytes(), 6)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b""))


def sheet(path, clips, frames, shrink=2):
    """One row per clip [3, F, H, W] in [-1, 1], the chosen frames side by side, each `shrink` times smaller."""
    rows = []
    for clip in clips:
        picked = clip[:, [min(f, clip.shape[1] - 1) for f in frames]].float().clamp(-1, 1)
        picked = torch.nn.functional.avg_pool2d(picked.transpose(0, 1), shrink)
        rows.append(torch.nn.functional.pad(picked, (0, 2, 0, 2)).permute(1, 2, 0, 3).flatten(2))
    width = max(r.shape[-1] for r in rows)
    rows = [torch.nn.functional.pad(r, (0, width - r.shape[-1])) for r in rows]
    image = torch.cat(rows, 1).permute(1, 2, 0)
    write_png(path, ((image + 1) * 127.5).round().clamp(0, 255).byte())
