"""What other tools say of models' memory, from the same configurations; prints one JSON object.

Usage: size_peers.py LLMFIT CONFIGURATION TOKENS NAME

`cargo xtask bench sizing` runs it, with hf-mem 0.5.6 and llmfit 1.1.17 installed.
CONFIGURATION is a config.json, NAME the model's name in llmfit's own table. A tool that cannot say a figure has none.
"""

import json
import subprocess
import sys


def hf_mem(config, tokens):
    from hf_mem.safetensors.kv_cache import compute_safetensors_kv_cache_size

    return compute_safetensors_kv_cache_size(config, "BF16", tokens)


def llmfit(program, tokens, name):
    words = [program, "--json", "plan", name, "--context", str(tokens), "--quant", "F16"]
    plan = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    # Its weights are in units of 10^9 bytes, its cache in units of 2^30, both named GB.
    return round(plan["disk_size_gb"] * 1e9), round(plan["kv_alternatives"][0]["kv_cache_gb"] * 2**30)


def attempt(figure, *arguments):
    try:
        return figure(*arguments)
    except Exception as error:  # a peer that fails has no figure, and says why on the side
        print(f"{figure.__name__}: {error}", file=sys.stderr)
        return None


def main():
    program, path, tokens, name = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    weights, cache = attempt(llmfit, program, int(tokens), name) or (None, None)
    print(
        json.dumps(
            {
                "hf_mem_cache": attempt(hf_mem, config, int(tokens)),
                "llmfit_weights": weights,
                "llmfit_cache": cache,
            }
        )
    )


if __name__ == "__main__":
    main()
