"""A byte-level BPE in Qwen's tokenizer.json form: trains it on the toy world's texts, and encodes for training.

    python tokenizer.py DIR     (writes tokenizer.json, tokenizer_config.json, chat_template.jinja)
"""

import collections
import json
import re
import sys
from pathlib import Path

import numpy as np

SPECIALS = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>",
    "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>",
)
PATTERN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
# The same for the ASCII texts of the toy world; Python's re knows no \p.
ASCII_PATTERN = re.compile(PATTERN.replace(r"\p{L}", "A-Za-z").replace(r"[^\r\nA-Za-z\p{N}]?A-Za-z+", r"[^\r\nA-Za-z0-9]?[A-Za-z]+").replace(r"|\p{N}|", "|[0-9]|").replace(r"\p{N}", "0-9"))
TEMPLATE = (
    "{%- for message in messages %}{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"
)


def byte_letters():
    """The printable letter of each byte, as byte-level BPE writes them."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters, extra = {b: chr(b) for b in plain}, 0
    for b in range(256):
        if b not in letters:
            letters[b] = chr(256 + extra)
            extra += 1
    return letters


LETTERS = byte_letters()


def split_words(text):
    return ["".join(LETTERS[b] for b in word.encode()) for word in ASCII_PATTERN.findall(text)]


def train(texts, merges):
    """Merge rules of a BPE over `texts`, most frequent pair first, ties by spelling."""
    counts = collections.Counter(word for text in texts for word in split_words(text))
    words = [(list(word), n) for word, n in counts.items()]
    rules = []
    while len(rules) < merges:
        pairs = collections.Counter()
        for pieces, n in words:
            for pair in zip(pieces, pieces[1:]):
                pairs[pair] += n
        if not pairs:
            break
        best = min(pairs, key=lambda p: (-pairs[p], p))
        rules.append(best)
        for pieces, _ in words:
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return rules


def to_json(rules):
    """tokenizer.json with the rules: bytes, merges, then the special tokens."""
    vocab = {letter: i for i, letter in enumerate(sorted(LETTERS.values()))}
    for pair in rules:
        vocab.setdefault("".join(pair), len(vocab))
    added = [
        {"id": len(vocab) + i, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        for i, text in enumerate(SPECIALS)
    ]
    split = {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated", "invert": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    template = {
        "type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": {},
    }
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, level]}, "post_processor": template,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
            "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": vocab, "merges": [list(p) for p in rules],
        },
    }


class Tokenizer:
    """Encodes text (special tokens spelled out) with a tokenizer.json."""

    def __init__(self, path):
        data = json.loads(Path(path).read_text())
        self.vocab = data["model"]["vocab"]
        self.ranks = {tuple(pair): i for i, pair in enumerate(data["model"]["merges"])}
        self.specials = {t["content"]: t["id"] for t in data["added_tokens"]}
        self.splitter = re.compile("(" + "|".join(re.escape(s) for s in self.specials) + ")")
        self.cache = {}

    def encode(self, text):
        ids = []
        for part in self.splitter.split(text):
            if part in self.specials:
                ids.append(self.specials[part])
            else:
                for word in split_words(part):
                    ids += self.encode_word(word)
        return ids

    def encode_word(self, word):
        if word not in self.cache:
            pieces = list(word)
            while len(pieces) > 1:
                pair = min(zip(pieces, pieces[1:]), key=lambda p: self.ranks.get(p, 1 << 30))
                if pair not in self.ranks:
                    break
                i = 0
                while i < len(pieces) - 1:
                    if (pieces[i], pieces[i + 1]) == pair:
                        pieces[i : i + 2] = ["".join(pair)]
                    i += 1
            self.cache[word] = [self.vocab[p] for p in pieces]
        return self.cache[word]


def corpus(seed=11, count=6000):
    """Texts of every task, as the networks will read them."""
    from pool import make_scenes
    from world import captions as c

    rng = np.random.default_rng(seed)
    families = [str(f) for f in rng.choice(["toy", "bridge", "droid", "push", "drive"], count, p=[0.7, 0.1, 0.05, 0.05, 0.1])]
    texts = []
    for scene in make_scenes(seed, families, 25):
        text = c.plain_caption(rng, scene.facts, still=scene.facts["family"] == "toy" and rng.random() < 0.2)
        size = list(c.ASPECTS)[int(rng.integers(len(c.ASPECTS)))]
        frames = int(rng.choice((9, 17, 25, 33)))
        dice = rng.random()
        if dice < 0.15:
            text = c.json_caption(rng, scene)
        elif dice < 0.25:
            text = c.action_caption(text, *size, frames, view=str(rng.choice(list(c.VIEWPOINTS))))
        elif dice < 0.32:
            text = c.transfer_prompt(text, *size, frames, [str(rng.choice(c.HINTS))])
        elif dice < 0.4:
            text = c.with_sentences(text, *size, frames, negated=rng.random() < 0.5)
        texts.append("user\n" + text)
    # the fixed sentences of the system prompts and templates once in a while
    return texts + ["system\n" + c.SYSTEM_VIDEO, "system\n" + c.SYSTEM_TRANSFER, "assistant\n", *c.VIEWPOINTS.values()] * 40


def main(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rules = train(corpus(), 640 - 256 - len(SPECIALS) - 2)
    (folder / "tokenizer.json").write_text(json.dumps(to_json(rules), ensure_ascii=False))
    settings = {"backend": "tokenizers", "eos_token": "<|im_end|>", "model_max_length": 1000000000000000019884624838656, "pad_token": "<|endoftext|>", "tokenizer_class": "TokenizersBackend"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")
    (folder / "chat_template.jinja").write_text(TEMPLATE)


if __name__ == "__main__":
    main(sys.argv[1])
