"""A Hugging Face folder with weights, random and tiny, that Ollama imports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_VOCABULARY, _WIDTH, _FEED_FORWARD = 300, 32, 64
_SPECIAL = ("<unk>", "<s>", "</s>")


def write_model(folder: Path, tokenizer_config: dict[str, Any]) -> None:
    """Write a folder as transformers saves a model, with a tokenizer whose special tokens are added ones."""
    import numpy as np
    from safetensors.numpy import save_file

    folder.mkdir()
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": _WIDTH,
        "intermediate_size": _FEED_FORWARD,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "num_hidden_layers": 1,
        "vocab_size": _VOCABULARY,
        "max_position_embeddings": 512,
        "rms_norm_eps": 1e-5,
    }
    added = [{"id": number, "content": text, "special": True} for number, text in enumerate(_SPECIAL)]
    vocabulary = {f"t{number}": number for number in range(len(_SPECIAL), _VOCABULARY)}
    tokenizer = {"added_tokens": added, "model": {"type": "BPE", "vocab": vocabulary, "merges": []}}
    for name, content in (
        ("config.json", config),
        ("tokenizer.json", tokenizer),
        ("tokenizer_config.json", tokenizer_config),
    ):
        (folder / name).write_text(json.dumps(content))
    layer = "model.layers.0."
    square, up, down = (_WIDTH, _WIDTH), (_FEED_FORWARD, _WIDTH), (_WIDTH, _FEED_FORWARD)
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens": (_VOCABULARY, _WIDTH),
        "lm_head": (_VOCABULARY, _WIDTH),
        "model.norm": (_WIDTH,),
        f"{layer}input_layernorm": (_WIDTH,),
        f"{layer}post_attention_layernorm": (_WIDTH,),
        **{f"{layer}self_attn.{name}_proj": square for name in "qkvo"},
        f"{layer}mlp.gate_proj": up,
        f"{layer}mlp.up_proj": up,
        f"{layer}mlp.down_proj": down,
    }
    tensors = {f"{name}.weight": np.ones(shape, np.float32) for name, shape in shapes.items()}
    save_file(tensors, str(folder / "model.safetensors"))
